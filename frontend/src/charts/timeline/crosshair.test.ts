import { expect, test } from "vitest";
import { spanWords, valueAt, valueWords } from "./crosshair";

const series = { at: [0, 1, 2, 10], values: [5, null, 7.1234, 9], unit: "ms" };

test("the value of a second is that of the nearest sample", () => {
  expect([-3, 0.4, 1.6, 5.9, 6.1, 99].map((second) => valueAt(series, second))).toEqual([5, 5, 7.1234, 7.1234, 9, 9]);
  expect(valueAt(series, 1.2)).toBeNull();
  expect(valueAt({ at: [], values: [] }, 1)).toBeNull();
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
