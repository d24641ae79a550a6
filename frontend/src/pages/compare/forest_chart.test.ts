import { expect, test } from "vitest";
import type { CompareCharts } from "../../api/types.gen";
import { forestChart, ratioRows, row } from "./forest_chart";
import { apart, curveChart, curveRows, lines, shortNames } from "./curve_chart";
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
  value_text: "",
  lowest: 0,
  highest: 0,
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
  chosen: "4",
  curves: [
    {
      metric: throughput.key,
      scale: "linear",
      range: [0, 2000],
      ticks: [0, 1000, 2000],
      texts: ["0", "1,000", "2,000"],
    },
  ],
  ratios: { band: [0.98, 1.02], range: [0.9, 1.4], ticks: [1, 1.2, 1.4], texts: ["1", "1.2", "1.4"] },
  points: [
    {
      ...shared,
      side: 0,
      value: 1000,
      value_text: "1,000",
      lowest: 990,
      highest: 1010,
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
      value_text: "2,000",
      runs: [{ run: 5, value: 2000 }],
      ratio: 1.5,
      low: null,
      high: null,
      ratio_text: "too few repetitions",
      words: "too few repetitions",
    },
  ],
};

test("a ratio without an interval is a hollow mark without a bar, and is not given as a number", () => {
  const { traces, layout } = forestChart(data, throughput, palette);
  const [bars, arrows, marks] = traces;
  expect(bars).toMatchObject({ x: [1.25, 1.35, null], y: [0, 0, null] });
  expect(arrows).toMatchObject({ x: [] });
  expect(marks).toMatchObject({ x: [1.3, 1.5], y: [0, 1], marker: { symbol: ["square", "square-open"] } });
  expect(layout?.annotations?.map((each) => each.text)).toEqual(["1.30 × [1.25, 1.35]", "too few repetitions"]);
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
  const [bars, arrows] = forestChart({ ...data, points: cut }, throughput, palette).traces;
  expect(bars).toMatchObject({ x: [0.9, 1.4, null] });
  expect(arrows).toMatchObject({ x: [1.4], y: [0], marker: { symbol: ["triangle-right"] } });
  expect(arrows && "text" in arrows && String(arrows.text)).toContain("1.30 × [0.90, ∞]");
});

test("ratios have a logarithmic axis with the ticks of the server, the margin as a band and the chosen load marked", () => {
  const { layout } = forestChart(data, throughput, palette);
  expect(layout?.xaxis).toMatchObject({ type: "log", tickvals: [1, 1.2, 1.4], ticktext: ["1", "1.2", "1.4"] });
  // In the order of drawing: the mark covers neither the band nor the line at 1.
  expect(layout?.shapes).toMatchObject([{ y0: -0.5, fillcolor: palette.chosen }, { x0: 0.98, x1: 1.02 }, { x0: 1 }]);
  const alone = forestChart({ ...data, levels: data.levels.slice(0, 1) }, throughput, palette).layout?.shapes;
  expect(alone).toMatchObject([{ x0: 0.98, x1: 1.02 }, { x0: 1 }]);
});

test("a load at which no side has a ratio has no row, unless it is the chosen one", () => {
  const levels = [...data.levels, { key: "16", text: "16 threads", threads: 16, rate: null }];
  const shown = (chosen: string) => forestChart({ ...data, levels, chosen }, throughput, palette).layout?.yaxis;
  expect(shown("4")).toMatchObject({ ticktext: ["4 threads", "8 threads"], range: [1.5, -0.5] });
  expect(shown("16")).toMatchObject({ ticktext: ["4 threads", "8 threads", "16 threads"] });
});

test("sides stand below each other within their load", () => {
  expect(row(2, 0, 1)).toBe(2);
  expect(row(2, 0, 2) + row(2, 1, 2)).toBeCloseTo(4);
  expect(row(2, 1, 2)).toBeLessThan(row(3, 0, 2));
  expect(row(2, 2, 3)).toBeLessThan(row(3, 0, 3));
});

test("a curve has a line and a band for each side, named at its end with its value", () => {
  const { traces, layout } = curveChart(data, throughput, palette);
  expect(traces.map((trace) => "mode" in trace && trace.mode)).toEqual([
    "lines",
    "lines+markers",
    "lines",
    "lines+markers",
  ]);
  expect(traces[3]).toMatchObject({ x: [4, 8], y: [1300, 2000] });
  expect(layout?.annotations?.map((each) => each.text).slice(1)).toEqual([
    '<span style="color:#0072b2">●</span> <b>Alpha</b><br>1,000',
    '<span style="color:#d55e00">■</span> <b>Beta</b><br>2,000',
  ]);
  // In the sides' colours names would be hard to read.
  expect(layout?.annotations?.slice(1).map((each) => each.font?.color)).toEqual([palette.ink, palette.ink]);
});

test("loads at a fixed rate are a line of their own, hollow, the first of them with the rate", () => {
  const points = data.points.map((point) => (point.level === "8" ? { ...point, rate: 100 } : point));
  expect(lines({ ...data, points }, throughput).map((line) => line.points.length)).toEqual([1, 1, 1]);
  const { traces } = curveChart({ ...data, points }, throughput, palette);
  expect(traces.filter((trace) => JSON.stringify(trace).includes("-open"))).toHaveLength(1);
  expect(traces.filter((trace) => "texttemplate" in trace && trace.texttemplate === "100/s")).toHaveLength(1);
});

test("names at the ends of lines never cover each other", () => {
  const moved = apart([0.5, 0.52, 0.51, 0.99, 1], 0.1);
  const sorted = [...moved].sort((one, other) => one - other);
  sorted.slice(1).forEach((place, index) => expect(place - (sorted[index] ?? 0)).toBeGreaterThan(0.0999));
  expect(Math.max(...moved)).toBeLessThanOrEqual(1);
  expect(moved[0]).toBeLessThan(moved[2] ?? 0);
});

test("names at the ends of lines leave out what all begin with, and are cut where they are long", () => {
  expect(shortNames(["MariaDB 10, flush 1", "MariaDB 10, flush 2"])).toEqual(["flush 1", "flush 2"]);
  expect(shortNames(["MariaDB flush=1", "MariaDB flush=2"])).toEqual(["flush=1", "flush=2"]);
  expect(shortNames(["MariaDB 10.11", "MariaDB 11.8"])).toEqual(["MariaDB 10.11", "MariaDB 11.8"]);
  expect(shortNames(["PXC small", "MHA small"])).toEqual(["PXC small", "MHA small"]);
  expect(shortNames([])).toEqual([]);
  expect(shortNames(["Aurora", "Aurora"])).toEqual(["Aurora", "Aurora"]);
  expect(shortNames(["a name that is very long", "b"])[0]).toBe("a name that is …");
});

test("the CSV of a curve has every value with its range", () => {
  expect(curveRows(data, throughput).rows[0]).toEqual(["a", 4, null, 2, 1000, 990, 1010]);
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

test("of many rows the chosen load keeps its numbers, each on a line of its own", () => {
  const levels = Array.from({ length: 7 }, (_, place) => ({
    key: `${place}`,
    text: `${place} threads`,
    threads: place,
    rate: null,
  }));
  const sides = ["a", "b", "c", "d"].map((slug, position) => ({ slug, name: slug, position, tone: position }));
  const points = levels.flatMap(({ key }) =>
    sides.slice(1).map(({ position }) => ({
      ...shared,
      level: key,
      side: position,
      value: 1000,
      runs: [],
      ratio: 1.1,
      low: 1,
      high: 1.2,
      words: "better",
      ratio_text: `${key} ${position}`,
    })),
  );
  const { layout } = forestChart({ ...data, sides, levels, points, chosen: "4" }, throughput, palette);
  expect(layout?.annotations?.map((each) => each.text)).toEqual(["4 1", "4 2", "4 3"]);
  const [first = 0, second = 0, third = 0] = (layout?.annotations ?? []).map((each) => each.yshift);
  expect(Math.min(first - second, second - third)).toBeGreaterThan(10);
});

test("a long name at the end of a line has the room that it takes", () => {
  const room = (name: string): number => {
    const sides = data.sides.map((side, place) => ({ ...side, name: `${name}${place}` }));
    return curveChart({ ...data, sides }, throughput, palette).layout?.margin?.r ?? 0;
  };
  expect(room("a")).toBeLessThan(70);
  expect(room("fourteen_chars")).toBeGreaterThanOrEqual(15 * 7);
});
