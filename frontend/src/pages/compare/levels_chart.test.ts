import { expect, test } from "vitest";
import type { CompareCharts } from "../../api/types.gen";
import { closest, dodged, ratioChart, ratioRows } from "./levels_chart";
import { palette } from "../../charts/palette.fixture";
import { ends } from "../../charts/style";

const throughput = {
  key: "client.throughput",
  kind: "throughput",
  label: "Throughput",
  unit: "transactions/s",
  direction: "higher",
} as const;
const shared = {
  metric: throughput.key,
  level: "4",
  threads: 4,
  rate: null,
  bar: null,
  cut: [false, false] as [boolean, boolean],
  ratio_text: "",
};
const data: CompareCharts = {
  sides: [
    { slug: "a", name: "Alpha", position: 0, tone: 0 },
    { slug: "b", name: "Beta", position: 1, tone: 1 },
  ],
  levels: [
    { key: "4", text: "4 threads", threads: 4, rate: null },
    { key: "8", text: "8 threads", threads: 8, rate: null },
  ],
  metrics: [throughput],
  threads: { ticks: [4, 8], scale: "linear", range: [3.68, 8.32] },
  ratios: { band: [0.98, 1.02], scale: "linear", range: [0.9, 1.4], ticks: [1, 1.2, 1.4], texts: ["1", "1.2", "1.4"] },
  points: [
    {
      ...shared,
      side: 0,
      value: 1000,
      runs: [
        { run: 1, value: 990 },
        { run: 2, value: 1010 },
      ],
      ratio: null,
      low: null,
      high: null,
      words: "",
    },
    {
      ...shared,
      side: 1,
      value: 1300,
      runs: [
        { run: 3, value: 1290 },
        { run: 4, value: 1310 },
      ],
      ratio: 1.3,
      low: 1.25,
      high: 1.35,
      bar: [1.25, 1.35],
      ratio_text: "1.30 × [1.25, 1.35]",
      words: "better",
    },
    {
      ...shared,
      level: "8",
      threads: 8,
      side: 1,
      value: 2000,
      runs: [{ run: 5, value: 2000 }],
      ratio: 1.5,
      low: null,
      high: null,
      words: "too few repetitions",
    },
  ],
  series: { level: "4", apart: false, clock: "measured", runs: [] },
  latency: null,
};

test("a ratio without an interval is a hollow mark without a bar", () => {
  const [bars, arrows, marks] = ratioChart(data, throughput, palette).traces;
  expect(bars).toMatchObject({ y: [1.25, 1.35, null] });
  expect(arrows).toMatchObject({ x: [] });
  expect(marks).toMatchObject({ y: [1.3, 1.5], marker: { symbol: ["square", "square-open"] } });
});

test("an interval that goes on beyond the chart ends in an arrowhead, and the whole of it is said", () => {
  const cut = data.points.map((point) =>
    point.bar
      ? {
          ...point,
          bar: [0.9, 1.4] as [number, number],
          cut: [false, true] as [boolean, boolean],
          ratio_text: "1.30 × [0.90, ∞]",
        }
      : point,
  );
  const [bars, arrows] = ratioChart({ ...data, points: cut }, throughput, palette).traces;
  expect(bars).toMatchObject({ y: [0.9, 1.4, null] });
  expect(arrows).toMatchObject({ x: [4], y: [1.4], marker: { symbol: ["triangle-up"] } });
  expect(arrows && "text" in arrows && String(arrows.text)).toContain("1.30 × [0.90, ∞]");
});

test("the ticks of the ratios are those that the server gave, also on a logarithmic axis", () => {
  const { layout } = ratioChart(data, throughput, palette);
  expect(layout?.yaxis).toMatchObject({ tickvals: [1, 1.2, 1.4], ticktext: ["1", "1.2", "1.4"] });
});

test("sides stand beside each other around their load level", () => {
  expect(dodged(8, 0, 1, "linear", 4)).toBe(8);
  expect(dodged(8, 0, 2, "linear", 4) + dodged(8, 1, 2, "linear", 4)).toBeCloseTo(16);
  expect(dodged(8, 0, 2, "log", 2) * dodged(8, 1, 2, "log", 2)).toBeCloseTo(64);
});

test("the closest levels set the step, and one level alone has one too", () => {
  expect(closest([1, 4, 8, 9], "linear")).toBe(1);
  expect(closest([1, 2, 8], "log")).toBe(2);
  expect(closest([4], "linear")).toBe(1);
});

test("a logarithmic axis has exponents for ends", () => {
  expect(ends([1, 100], "log")).toEqual([0, 2]);
  expect(ends([1, 100], "linear")).toEqual([1, 100]);
});

test("the CSV has every ratio with its words", () => {
  expect(ratioRows(data, throughput).rows).toEqual([
    ["b", "a", 4, null, 2, 1.3, 1.25, 1.35, "better"],
    ["b", "a", 8, null, 1, 1.5, null, null, "too few repetitions"],
  ]);
});
