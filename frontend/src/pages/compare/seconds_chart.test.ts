import { expect, test } from "vitest";
import type { SeriesAnswer } from "../../api/series";
import type { SecondsCharts } from "../../api/types.gen";
import {
  hasLines,
  missing,
  panels,
  secondsChart,
  secondsRows,
  secondsWords,
  sharedEnds,
  type LoadedRun,
} from "./seconds_chart";
import { palette } from "../../charts/palette.fixture";

const latency = {
  key: "client.latency.p95",
  kind: "latency",
  label: "p95",
  unit: "ms",
  direction: "lower",
} as const;
const data: SecondsCharts = {
  sides: [
    { slug: "a", name: "Alpha", position: 0, tone: 0 },
    { slug: "b", name: "Beta", position: 1, tone: 1 },
  ],
  metrics: [latency],
  series: { level: "4", apart: false, clock: "run", runs: [] },
};

function answer(run: number, values: (number | null)[]): SeriesAnswer {
  const series = {
    metric: latency.key,
    name: "p95",
    unit: "ms",
    direction: "lower",
    node: "client",
    kind: "gauge",
  } as const;
  return {
    run,
    measured: [5, 60],
    series: [{ ...series, at: values.map((_, at) => at + 1), values, resets: [], zero: 0 }],
    missing: [],
  };
}

const fault = { kind: "fault", label: "writer killed", node: "db1", starts_at: 2, ends_at: null };
const runs: LoadedRun[] = [
  { run: 1, side: 0, repetition: 1, measured: [5, 60], events: [fault], answer: answer(1, [2, null, 4]) },
  { run: 2, side: 1, repetition: 1, measured: [6, 61], events: [], answer: answer(2, [3, 20]) },
  {
    run: 3,
    side: 1,
    repetition: 2,
    measured: null,
    events: [],
    answer: { run: 3, measured: null, series: [], missing: [{ metric: latency.key, node: "", reason: "not sampled" }] },
  },
];

test("all sides share a panel, or have one each", () => {
  expect(panels(data).map((panel) => panel.title)).toEqual(["Latency per second, p95"]);
  const apart = panels({ ...data, series: { ...data.series, apart: true } });
  expect(apart.map((panel) => panel.sides.map((side) => side.name))).toEqual([["Alpha"], ["Beta"]]);
});

test("panels of a metric have equal ranges even where one side is low", () => {
  const [alpha, beta] = panels({ ...data, series: { ...data.series, apart: true } });
  expect(sharedEnds(runs, latency)).toEqual([0, 3, 21]);
  const charts = [alpha, beta].map((panel) => secondsChart(runs, panel!, "run", null, palette).layout);
  expect(charts[0]?.yaxis?.range).toEqual([0, 21]);
  expect(charts[1]?.yaxis?.range).toEqual(charts[0]?.yaxis?.range);
  expect(charts[1]?.xaxis?.range).toEqual(charts[0]?.xaxis?.range);
});

test("every repetition is a thin line in its side's colour, with gaps where nothing was observed", () => {
  const { traces, layout } = secondsChart(runs, panels(data)[0]!, "run", null, palette);
  expect(traces).toHaveLength(3);
  expect(traces[0]).toMatchObject({ y: [2, null, 4], connectgaps: false, line: { color: palette.sides[0], width: 1 } });
  expect(layout?.shapes).toMatchObject([{ x0: 0, x1: 5 }]);
});

test("a zoom is shown in place of the whole clock, and a second has the values of all sides", () => {
  const [panel] = panels(data);
  expect(secondsChart(runs, panel!, "run", [1, 2], palette).layout?.xaxis?.range).toEqual([1, 2]);
  expect(secondsWords(runs, panel!, 1)).toBe("Alpha 2, Beta 3 ms");
  expect(secondsWords(runs, { ...panel!, sides: [data.sides[0]!] }, 2)).toBe("not observed ms");
});

test("events are marked in their side's colour, with their words", () => {
  const marks = secondsChart(runs, panels(data)[0]!, "run", null, palette).traces.at(-1) as {
    x: number[];
    text: string[];
    marker: { color: string };
  };
  expect(marks.x).toEqual([2]);
  expect(marks.text[0]).toContain("run 1: writer killed on db1");
  expect(marks.marker.color).toBe(palette.sides[0]);
});

test("on the clock of the measured phase warm-up lies before zero, and what came after is shaded too", () => {
  const at = [-2, -1, 0, 1, 2, 3, 4];
  const measured = answer(1, at);
  const aligned: LoadedRun[] = [
    {
      run: 1,
      side: 0,
      repetition: 1,
      measured: [0, 3],
      events: [],
      answer: { ...measured, series: measured.series.map((one) => ({ ...one, at })) },
    },
  ];
  const { layout } = secondsChart(aligned, panels(data)[0]!, "measured", null, palette);
  expect(layout?.xaxis?.range).toEqual([-2, 4]);
  expect(layout?.shapes).toMatchObject([
    { x0: -2, x1: 0 },
    { x0: 3, x1: 4 },
  ]);
  expect(layout?.annotations?.map((one) => one.text)).toEqual(["warm-up", "after"]);
  expect(JSON.stringify(layout?.xaxis?.title)).toContain("measured phase");
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
