import { expect, test } from "vitest";
import { facetWords, selection, type TickedRun } from "./selection";

function aRun(id: string, system: string, workload = "7"): TickedRun {
  return { id, system, workload };
}

test("runs of two systems lead to their comparison, the first ticked is the baseline", () => {
  const chosen = selection([aRun("3", "pxc"), aRun("1", "aurora"), aRun("2", "aurora")]);
  expect(chosen.address).toBe("/compare/?side=pxc&side=aurora&workload=7&runs=3,1,2");
  expect(chosen.words).toBe("3 runs of 2 systems");
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
