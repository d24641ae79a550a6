import { expect, test } from "vitest";
import type { LatencyChart, LatencyLine } from "../../api/types.gen";
import { latencyChart, latencyRows } from "./latency";
import { palette } from "../palette.fixture";

const line: LatencyLine = {
  name: "this run",
  color: 0,
  one_in: [1, 10, 100, 100],
  values: [1.5, 2.1, 80, 80],
  percent: [90, 99, 100, 100],
  slower: [10, 1, 0, 0],
};
const data: LatencyChart = {
  lines: [line],
  values: { range: [1, 100], ticks: [1, 10, 100], texts: ["1", "10", "100"] },
  one_in: { range: [1, 100], ticks: [1, 10, 100], texts: ["0", "90", "99"] },
};

test("a line rises in steps where the histogram's buckets begin", () => {
  const { traces, layout } = latencyChart(data, palette);
  expect(traces).toHaveLength(1);
  expect(traces[0]).toMatchObject({
    x: [1, 10, 100, 100],
    y: [1.5, 2.1, 80, 80],
    line: { shape: "hv", color: palette.sides[0] },
    customdata: [
      [90, 10],
      [99, 1],
      [100, 0],
      [100, 0],
    ],
  });
  expect(layout?.showlegend).toBe(false);
});

test("both axes are logarithmic, say so, and name percentiles where so many were slower", () => {
  const { layout } = latencyChart(data, palette);
  expect(layout?.xaxis).toMatchObject({
    type: "log",
    range: [0, 2],
    tickvals: [1, 10, 100],
    ticktext: ["0", "90", "99"],
    title: { text: "Percentile of transactions (log scale)" },
  });
  expect(layout?.yaxis).toMatchObject({ type: "log", title: { text: "Latency, ms (log scale)" } });
});

test("sides have their colours and names", () => {
  const sides = [
    { ...line, name: "A", color: 0 },
    { ...line, name: "B", color: 1 },
  ];
  const { traces, layout } = latencyChart({ ...data, lines: sides }, palette);
  expect(traces.map((trace) => trace.name)).toEqual(["A", "B"]);
  expect(traces[1]).toMatchObject({ line: { color: palette.sides[1] } });
  expect(layout?.showlegend).toBe(true);
});

test("the data are the steps, without the point that ends a line", () => {
  expect(latencyRows(data).rows).toEqual([
    ["this run", 1.5, 90, 10],
    ["this run", 2.1, 99, 1],
    ["this run", 80, 100, 0],
  ]);
});
