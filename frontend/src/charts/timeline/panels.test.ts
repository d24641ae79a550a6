import { expect, test } from "vitest";
import type { Series } from "../../api/series";
import { unitWords } from "./panels";

function aSeries(fields: Partial<Series> = {}): Series {
  return {
    metric: "mysql.status.Questions",
    name: "Questions",
    unit: "1/s",
    direction: "neutral",
    node: "db1",
    kind: "gauge",
    at: [1],
    values: [10],
    resets: [],
    zero: 0,
    ...fields,
  };
}

test("beside the unit stands what one line was made of", () => {
  expect(unitWords(undefined)).toBe("");
  expect(unitWords(aSeries())).toBe("1/s");
  expect(unitWords(aSeries({ kind: "counter" }))).toBe("1/s, total");
  expect(unitWords(aSeries({ node: "sum", nodes: ["db1", "db2"] }))).toBe("1/s, sum of 2 nodes");
});
