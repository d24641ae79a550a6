import { expect, test } from "vitest";
import type { Happening } from "../../api/timeline";
import { MOST_ROWS, around, byLane, placed, sentence, ticks, words } from "./lanes";

function event(fields: Partial<Happening> = {}): Happening {
  return {
    lane: "faults",
    kind: "fault",
    label: "kill -9",
    starts_at: 10,
    ends_at: null,
    node: "db1",
    count: 1,
    ...fields,
  };
}

const wide = (): number => 60;

test("a span is as long as it lasted, with its words behind it", () => {
  const [one] = placed([event({ starts_at: 10, ends_at: 20 })], [0, 100], 1000, wide);
  expect(one).toMatchObject({ left: 100, width: 100, row: 0, words: { left: 100, width: 100 } });
  const [short] = placed([event()], [0, 100], 1000, wide);
  expect(short).toMatchObject({ left: 100, width: 5, words: { left: 105, width: 72 } });
});

test("words that would lie over others go a row down", () => {
  const rows = placed([event(), event({ starts_at: 12 }), event({ starts_at: 30 })], [0, 100], 1000, wide).map(
    ({ row }) => row,
  );
  expect(rows).toEqual([0, 1, 0]);
});

test("at the right edge the words stand before their mark", () => {
  const [one] = placed([event({ starts_at: 99 })], [0, 100], 1000, wide);
  expect(one).toMatchObject({ left: 990, words: { left: 990 - 72, width: 72 } });
});

test("where there is no room for words the marks stay", () => {
  const many = Array.from({ length: MOST_ROWS + 3 }, (_, place) => event({ starts_at: 10 + place / 10 }));
  const found = placed(many, [0, 100], 1000, wide);
  expect(found).toHaveLength(MOST_ROWS + 3);
  expect(found.filter(({ words }) => words === null)).toHaveLength(3);
});

test("what lies outside of the stretch is left out, what reaches into it is cut", () => {
  const found = placed([event({ starts_at: 1 }), event({ starts_at: 5, ends_at: 30 })], [20, 40], 200, wide);
  expect(found).toMatchObject([{ left: 0, width: 100 }]);
});

test("an event is announced with its node and its time", () => {
  expect(sentence(event({ ends_at: 12.5 }))).toBe("kill -9 on db1, 10 s to 12.5 s");
  expect(sentence(event({ node: "" }))).toBe("kill -9, 10 s");
  // By voice it is called by the words that are seen.
  const state = event({ lane: "nodes" });
  expect(sentence(state).startsWith(words(state))).toBe(true);
});

test("an event is shown with what surrounds it, within the clock", () => {
  expect(around(event({ starts_at: 2 }), [0, 60])).toEqual([0, 7]);
  expect(around(event({ starts_at: 20, ends_at: 40 }), [0, 45])).toEqual([10, 45]);
});

test("lanes without events are left out", () => {
  expect(
    byLane(
      [
        ["faults", "Faults"],
        ["schema", "Schema changes"],
      ],
      [event()],
    ).map(({ name }) => name),
  ).toEqual(["Faults"]);
});

test("the scale has round steps", () => {
  expect(ticks([0, 65], 7)).toEqual([0, 10, 20, 30, 40, 50, 60]);
  expect(ticks([12.2, 12.9], 4)).toEqual([12.2, 12.4, 12.6, 12.8]);
});

test("words wider than either side are cut, and never over their own mark", () => {
  const [one] = placed([event({ starts_at: 30 })], [0, 100], 100, () => 300);
  expect(one).toMatchObject({ left: 30, width: 5, words: { left: 35, width: 65 } });
});

test("a fault keeps its words where many states of nodes surround it", () => {
  const states = Array.from({ length: 9 }, () => event({ kind: "node_state", lane: "nodes", starts_at: 9 }));
  const found = placed([...states, event()], [0, 100], 1000, wide);
  expect(found.at(-1)).toMatchObject({ event: { kind: "fault" }, row: 0 });
  expect(words(event({ lane: "nodes", label: "answers: yes → no" }))).toBe("db1: answers: yes → no");
  expect(words(event({ lane: "nodes", label: "db1 is the writer" }))).toBe("db1 is the writer");
});
