import { expect, test } from "vitest";
import { spanWords, valueAt, valueWords } from "./crosshair";

const series = { at: [0, 1, 2, 10], values: [5, null, 7.1234, 9], unit: "ms" };

test("the value of a second is that of the nearest sample", () => {
  expect([-2, 0.4, 1.6, 4.4, 7.6, 12].map((second) => valueAt(series, second))).toEqual([5, 5, 7.1234, 7.1234, 9, 9]);
  expect(valueAt(series, 1.2)).toBeNull();
  expect(valueAt({ at: [], values: [] }, 1)).toBeNull();
});

test("far from every sample nothing was observed", () => {
  expect([-3, 5, 7, 99].map((second) => valueAt(series, second))).toEqual([null, null, null, null]);
  expect(valueWords([series], ["db1"], 99)).toBe("not observed ms");
  // Every five minutes is not far apart for CPU credits.
  const slow = { at: [0, 300, 600], values: [1, 2, 3] };
  expect([-700, 140, 1300, 1400].map((second) => valueAt(slow, second))).toEqual([1, 1, 3, null]);
});

test("several lines are named, one is not", () => {
  expect(valueWords([series], ["db1"], 2)).toBe("7.12 ms");
  expect(valueWords([series, series], ["db1", "db2"], 1)).toBe("db1 not observed, db2 not observed ms");
});

test("the runs of a side are their lowest and highest value", () => {
  const other = { at: [2], values: [1200] };
  expect(spanWords("MHA", [series, other], 2)).toBe("MHA 7.12–1,200");
  expect(spanWords("MHA", [other], 2)).toBe("MHA 1,200");
  expect(spanWords("MHA", [{ at: [2], values: [null] }], 2)).toBe("");
});
