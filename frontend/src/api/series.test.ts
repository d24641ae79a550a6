import { expect, test } from "vitest";
import { inGroups, MOST_METRICS } from "./series";

test("no request asks for more metrics than the server answers for", () => {
  const keys = Array.from({ length: 2 * MOST_METRICS + 1 }, (_, place) => `m${place}`);
  expect(inGroups([...keys, "m0"]).map((group) => group.length)).toEqual([MOST_METRICS, MOST_METRICS, 1]);
  expect(inGroups([])).toEqual([]);
});
