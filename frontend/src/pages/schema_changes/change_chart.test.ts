import { expect, test } from "vitest";
import { palette } from "../../charts/palette.fixture";
import type { ChangeChart } from "../../api/types.gen";
import { changeChart } from "./change_chart";

const panel = {
  name: "Throughput",
  unit: "transactions/s",
  range: [0, 210] as [number, number],
  lines: [
    {
      run: 7,
      at: [-1, 0, 1],
      values: [200, null, 0],
      statements: [[0, 6.3]] as [number, number][],
      extreme: { at: 1, value: 0, text: "run 7: lowest 0 transactions/s" },
    },
  ],
};
const chart: ChangeChart = {
  anchor: "change-1",
  color: 1,
  data_url: "/api/v1/series/",
  clock: [-8, 20],
  panels: [panel, { ...panel, name: "Latency, p99", unit: "ms" }],
};

test("each run is a line with its gaps, and leads to the run", () => {
  const [line] = changeChart(chart, palette).traces;
  expect(line).toMatchObject({
    x: [-1, 0, 1],
    y: [200, null, 0],
    connectgaps: false,
    customdata: ["/runs/7/", "/runs/7/", "/runs/7/"],
    line: { color: palette.sides[1] },
  });
});

test("the worst interval of a run is marked with its words", () => {
  expect(changeChart(chart, palette).traces[1]).toMatchObject({
    mode: "markers",
    ...{ x: [1], y: [0], text: ["run 7: lowest 0 transactions/s"] },
  });
});

test("the statement is shaded and its start is a line in each panel, which names quantity and unit", () => {
  const { shapes, annotations } = changeChart(chart, palette).layout ?? {};
  expect(shapes).toHaveLength(4);
  expect(shapes?.[0]).toMatchObject({ type: "rect", x0: 0, x1: 6.3, fillcolor: palette.shade });
  expect(shapes?.[1]).toMatchObject({ type: "line", x0: 0, x1: 0 });
  expect(annotations?.map(({ text }) => text)).toEqual([
    "Throughput, transactions/s",
    "ALTER",
    "Latency, p99, ms",
    "ALTER",
  ]);
});

test("both panels share one clock; each has its own axis", () => {
  const { layout, traces } = changeChart(chart, palette);
  expect(layout?.xaxis).toMatchObject({ range: [-8, 20], anchor: "y2" });
  expect(layout?.yaxis).toMatchObject({ range: [0, 210] });
  expect(traces.map((trace) => (trace as { yaxis: string }).yaxis)).toEqual(["y", "y", "y2", "y2"]);
  expect(layout?.yaxis2?.domain?.[1]).toBeLessThan(layout?.yaxis?.domain?.[0] ?? 0);
});

test("without latency the throughput has the whole height", () => {
  const { layout } = changeChart({ ...chart, panels: [panel], color: null }, palette);
  expect(layout?.yaxis?.domain).toEqual([0, 1]);
  expect(layout?.yaxis2).toBeUndefined();
});
