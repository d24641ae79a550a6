import { expect, test } from "vitest";
import { palette } from "../../charts/palette.fixture";
import { COLORS } from "../../charts/style";
import type { TrendChart, TrendPoint } from "../../api/types.gen";
import { releases, trendChart, trendRows } from "./trend_chart";

const point = (run: number, version: string, value: number, reset = ""): TrendPoint => ({
  ...{ run, version, value, reset, started_at: "2026-01-01T00:00:00Z" },
  text: `run ${run}: ${value} transactions/s`,
});

const chart: TrendChart = {
  anchor: "trend-1",
  color: 1,
  metric_name: "throughput",
  unit: "transactions/s",
  axis: { range: [0, 120], ticks: [0, 50, 100], texts: ["0", "50", "100"], begins_at: "" },
  left_out: 10,
  points: [point(1, "10.11.19", 100), point(2, "10.11.19", 102), point(3, "10.11.20", 80, "planned length 120 s")],
  levels: [
    { start: 8, end: 12, value: 101, first: 102, last: 100, text: "median of 4 runs: 101 transactions/s" },
    { start: 12, end: 13, value: 80, first: 80, last: 80, text: "median of 1 runs: 80 transactions/s" },
  ],
  changes: [{ place: 12, text: "worse −21 %", kind: "worse", title: "worse, first reported at run 3" }],
  band: { start: 12, low: 79.6, high: 80.4 },
};

const drawn = (given: Partial<TrendChart> = {}, width = 1000) => trendChart({ ...chart, ...given }, width, palette);

test("every run stands at its place with its value and its words, and opens its page", () => {
  expect(drawn().traces[1]).toMatchObject({
    x: [10, 11, 12],
    y: [100, 102, 80],
    text: chart.points.map((each) => each.text),
    customdata: ["/runs/1/", "/runs/2/", "/runs/3/"],
    marker: { color: [palette.sides[1], palette.sides[1], palette.sides[1 + 2 * COLORS]] },
  });
});

test("levels reach half a place beyond their runs and do not touch", () => {
  expect(drawn().traces[0]).toMatchObject({
    x: [7.5, 9.5, 11.5, null, 11.5, 12, 12.5, null],
    y: [102, 101, 100, null, 80, 80, 80, null],
  });
});

test("a change stands between runs with its words, in the colour of its verdict", () => {
  const { layout } = drawn();
  expect(layout?.annotations?.[0]).toMatchObject({
    x: 11.5,
    text: "<b>worse −21 %</b>",
    hovertext: "worse, first reported at run 3",
  });
  expect(layout?.shapes?.at(-1)).toMatchObject({ x0: 11.5, x1: 11.5, line: { color: palette.worse, dash: "solid" } });
});

test("words of changes that are close to each other stand in rows", () => {
  const changes = [11, 12].map((place) => ({ ...chart.changes[0]!, place }));
  const shown = drawn({ changes }, 200).layout;
  expect(shown?.annotations?.slice(0, 2)).toMatchObject([
    { yshift: 0, xanchor: "left" },
    { yshift: 15, xanchor: "right" },
  ]);
  expect(shown?.margin?.t).toBe(39);
  expect(drawn({ changes }).layout?.annotations?.[1]?.yshift).toBe(0);
});

test("a change that newer runs contradict is dashed and muted", () => {
  const gone = { ...chart.changes[0]!, kind: "gone" };
  expect(drawn({ changes: [gone] }).layout?.shapes?.at(-1)).toMatchObject({
    line: { color: palette.muted, dash: "dash" },
  });
});

test("changed conditions are a dotted line that says which", () => {
  const { layout } = drawn();
  expect(layout?.annotations?.[1]).toMatchObject({
    x: 11.5,
    text: "conditions changed",
    hovertext: "planned length 120 s",
  });
  expect(layout?.shapes?.at(-2)).toMatchObject({ x0: 11.5, line: { dash: "dot" } });
});

test("the band of the threshold ends where a change begins to count", () => {
  expect(drawn().layout?.shapes).toContainEqual(
    expect.objectContaining({ x0: 11.5, x1: 12.5, y0: 79.6, y1: 80.4, fillcolor: palette.shade }),
  );
  expect(drawn({ band: null }).layout?.shapes).toHaveLength(4);
});

test("the axes are the server's, and name quantity and unit", () => {
  const { layout } = drawn();
  expect(layout?.xaxis?.range).toEqual([9.5, 12.5]);
  expect(layout?.yaxis).toMatchObject({
    range: [0, 120],
    tickvals: [0, 50, 100],
    title: { text: "throughput, transactions/s" },
  });
});

test("a release is named where its name has room", () => {
  expect(releases(chart)).toEqual([
    { version: "10.11.19", start: 10, end: 12 },
    { version: "10.11.20", start: 12, end: 13 },
  ]);
  expect(drawn().layout?.xaxis).toMatchObject({ tickvals: [10.5, 12], ticktext: ["10.11.19", "10.11.20"] });
  expect(drawn({}, 120).layout?.xaxis).toMatchObject({ ticktext: ["10.11.19"] });
});

test("the data are the drawn runs", () => {
  expect(trendRows(chart).rows[2]).toEqual([3, "10.11.20", "2026-01-01T00:00:00Z", 80, "planned length 120 s"]);
});
