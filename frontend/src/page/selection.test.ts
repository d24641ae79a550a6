import { expect, test } from "vitest";
import { facetWords, selection, type TickedRun } from "./selection";

function aRun(id: string, system: string, workload = "7", started = 0): TickedRun {
  return { id, system, workload, started };
}

test("runs of two systems lead to their comparison", () => {
  const chosen = selection([aRun("3", "pxc"), aRun("1", "aurora"), aRun("2", "aurora")]);
  expect(chosen.address).toBe("/compare/?side=pxc&side=aurora&workload=7&runs=3,1,2");
  expect(chosen.words).toBe("3 runs of 2 systems");
});

test("the system measured first is the baseline, in whatever order its runs were ticked", () => {
  const runs = [aRun("24", "pxc-8-0-35", "7", 2000), aRun("9", "pxc-8-0-34", "7", 1000)];
  for (const ticked of [runs, runs.toReversed()]) {
    expect(selection(ticked).address).toBe("/compare/?side=pxc-8-0-34&side=pxc-8-0-35&workload=7&runs=9,24");
  }
});

test("one system is not a comparison", () => {
  expect(selection([aRun("1", "pxc"), aRun("2", "pxc")])).toMatchObject({ address: null });
});

test("a selection over several workloads says so", () => {
  const chosen = selection([aRun("1", "pxc", "7"), aRun("2", "aurora", "8")]);
  expect(chosen.address).toBeNull();
  expect(chosen.words).toContain("2 workloads");
});

test("more than four systems are refused in words", () => {
  const runs = ["a", "b", "c", "d", "e"].map((system, place) => aRun(String(place), system));
  expect(selection(runs)).toMatchObject({ address: null, words: expect.stringContaining("at most 4") });
});

test("a filter says what is chosen of it", () => {
  expect([facetWords([], 5), facetWords(["PXC"], 5), facetWords(["PXC", "MHA"], 5)]).toEqual(["any", "PXC", "2 of 5"]);
});
