import { expect, test } from "vitest";
import type { SeriesAnswer } from "../api/series";
import type { CompareData } from "./compare";
import { hasLines, missing, panels, secondsChart, secondsRows, sharedEnds, type LoadedRun } from "./compare-seconds";
import { palette } from "./palette.fixture";

const latency = { key: "client.latency.p95", kind: "latency", label: "Typical run's p95", unit: "ms", direction: "lower" } as const;
const data: CompareData = {
  sides: [
    { slug: "a", name: "Alpha", position: 0 },
    { slug: "b", name: "Beta", position: 1 },
  ],
  levels: [],
  metrics: [latency],
  threads: { ticks: [4], scale: "linear", range: [3, 5] },
  ratios: { band: [0.98, 1.02], scale: "linear", range: [0.9, 1.1], ticks: [1], texts: ["1"] },
  points: [],
  series: { level: "4", apart: false, runs: [] },
  latency: null,
};

function answer(run: number, values: (number | null)[]): SeriesAnswer {
  const series = { metric: latency.key, name: "p95", unit: "ms", direction: "lower", node: "client", kind: "gauge" } as const;
  return { run, measured: [5, 60], series: [{ ...series, at: values.map((_, at) => at + 1), values, resets: [] }], missing: [] };
}

const runs: LoadedRun[] = [
  { run: 1, side: 0, repetition: 1, answer: answer(1, [2, null, 4]) },
  { run: 2, side: 1, repetition: 1, answer: answer(2, [3, 20]) },
  { run: 3, side: 1, repetition: 2, answer: { run: 3, measured: null, series: [], missing: [{ metric: latency.key, reason: "not sampled" }] } },
];

test("all sides share a panel, or have one each", () => {
  expect(panels(data).map((panel) => panel.title)).toEqual(["Latency per second, p95"]);
  const apart = panels({ ...data, series: { ...data.series, apart: true } });
  expect(apart.map((panel) => panel.sides.map((side) => side.name))).toEqual([["Alpha"], ["Beta"]]);
});

test("panels of a metric have equal ranges even where one side is low", () => {
  const [alpha, beta] = panels({ ...data, series: { ...data.series, apart: true } });
  expect(sharedEnds(runs, latency)).toEqual([3, 21]);
  const charts = [alpha, beta].map((panel) => secondsChart(runs, panel!, palette).layout);
  expect(charts[0]?.yaxis?.range).toEqual([0, 21]);
  expect(charts[1]?.yaxis?.range).toEqual(charts[0]?.yaxis?.range);
  expect(charts[1]?.xaxis?.range).toEqual(charts[0]?.xaxis?.range);
});

test("every repetition is a thin line in its side's colour, with gaps where nothing was observed", () => {
  const { traces, layout } = secondsChart(runs, panels(data)[0]!, palette);
  expect(traces).toHaveLength(2);
  expect(traces[0]).toMatchObject({ y: [2, null, 4], connectgaps: false, line: { color: palette.sides[0], width: 1 } });
  expect(layout.shapes).toMatchObject([{ x0: 0, x1: 5 }]);
});

test("a run without samples says why, in its own panel only", () => {
  const [alpha, beta] = panels({ ...data, series: { ...data.series, apart: true } });
  expect(missing(runs, alpha!)).toEqual([]);
  expect(missing(runs, beta!)).toEqual(["Run 3: not sampled."]);
  expect(hasLines(runs.slice(2), beta!)).toBe(false);
});

test("the CSV has every plotted second", () => {
  expect(secondsRows(data, runs, panels(data)[0]!).rows).toEqual([
    ["a", 1, 1, 1, 2],
    ["a", 1, 1, 2, null],
    ["a", 1, 1, 3, 4],
    ["b", 2, 1, 1, 3],
    ["b", 2, 1, 2, 20],
  ]);
});
