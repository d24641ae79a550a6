import { describe, expect, it } from "vitest";
import type { GrowthChart, LoadLevelCharts } from "../../api/types.gen";
import {
  along,
  faint,
  growthChart,
  growthRows,
  latencyChart,
  latencyRows,
  throughputChart,
  throughputRange,
  throughputRows,
} from "./load_levels_chart";
import { palette } from "../../charts/palette.fixture";

const sides = [
  { slug: "a", name: "A", position: 0, tone: 0 },
  { slug: "b", name: "B", position: 1, tone: 1 },
];
const data: LoadLevelCharts = {
  sides,
  threads: { scale: "log", range: [0.9, 18], ticks: [1, 4, 16] },
  throughput: {
    key: "client.throughput",
    label: "Throughput",
    unit: "transactions/s",
    lines: [
      {
        side: 0,
        threads: [1, 4, 16],
        values: [100, 350, 900],
        texts: ["1 thread, 3 runs", "4 threads, 3 runs", "16 threads, 3 runs"],
      },
      { side: 0, threads: [4], values: [200], texts: ["4 threads at 200/s, 3 runs"] },
    ],
    dots: [
      { side: 0, threads: 1, text: "run 7, 1 thread", run: 7, value: 99, doubted: false },
      { side: 1, threads: 4, text: "run 8, 4 threads", run: 8, value: 300, doubted: false },
    ],
    fits: [
      {
        side: 0,
        threads: [1, 4, 16],
        values: [101, 345, 905],
        low: [90, 330, 850],
        high: [110, 360, null],
        knee: 10,
        peak: null,
      },
    ],
  },
  latency: {
    key: "client.latency.p95",
    lines: [
      { side: 0, percentile: "p50", threads: [1, 4], values: [2, 3] },
      { side: 0, percentile: "p95", threads: [1, 4], values: [5, 7] },
      { side: 0, percentile: "p99", threads: [1, 4], values: [8, 12] },
    ],
    dots: [{ side: 0, threads: 1, text: "run 7, 1 thread", run: 7, value: 5, doubted: false }],
    axis: { scale: "log", range: [1, 100], ticks: [1, 10, 100], texts: ["1", "10", "100"] },
    objective: 20,
  },
};

describe("the load levels", () => {
  it("draws every run as a point under its side's name", () => {
    const { traces } = throughputChart(data, palette);
    const points = traces.filter((trace) => "mode" in trace && trace.mode === "markers");
    expect(points.map((trace) => [trace.name, "x" in trace && trace.x, "y" in trace && trace.y])).toEqual([
      ["A", [1], [99]],
      ["B", [4], [300]],
    ]);
  });

  it("draws a run that failed a quality check hollow", () => {
    const dots = data.throughput.dots.map((dot) => ({ ...dot, doubted: dot.run === 7 }));
    const { traces } = throughputChart({ ...data, throughput: { ...data.throughput, dots } }, palette);
    const symbols = traces
      .filter((trace) => "mode" in trace && trace.mode === "markers")
      .map((trace) => (trace as { marker: { symbol: string[] } }).marker.symbol[0]?.endsWith("-open"));
    expect(symbols).toEqual([true, false]);
  });

  it("marks the knee on the fitted curve only where it lies among the levels", () => {
    const marks = throughputChart(data, palette).traces.filter((trace) => trace.name === "A, knee");
    expect(marks).toMatchObject([{ textfont: { color: palette.ink } }]);
    expect(marks).toHaveLength(1);
    const [fit] = data.throughput.fits;
    const beyond = { ...data, throughput: { ...data.throughput, fits: fit ? [{ ...fit, knee: 40 }] : [] } };
    expect(throughputChart(beyond, palette).traces.some((trace) => trace.name === "A, knee")).toBe(false);
  });

  it("keeps the runs readable where the interval of a fit is far wider than they are", () => {
    const [fit] = data.throughput.fits;
    const wide = { ...data.throughput, fits: fit ? [{ ...fit, high: [110, 130_000, null] }] : [] };
    expect(throughputRange(wide)).toEqual(throughputRange(data.throughput));
    const [low, high] = throughputRange(wide);
    expect(low).toBe(0);
    expect(high).toBeGreaterThan(905);
    expect(high).toBeLessThan(1100);
  });

  it("dashes distinguish percentiles, names a side once and shows the objective", () => {
    const { traces, layout } = latencyChart(data, palette);
    const lines = traces.filter((trace) => "mode" in trace && trace.mode === "lines");
    expect(lines.map((trace) => (trace as { line: { dash: string } }).line.dash)).toEqual(["dot", "solid", "dash"]);
    expect(lines.map((trace) => "showlegend" in trace && trace.showlegend)).toEqual([false, true, false]);
    expect(layout?.shapes?.[0]).toMatchObject({ y0: 20, y1: 20 });
    expect(
      latencyChart({ ...data, latency: { ...data.latency, objective: null } }, palette).layout?.shapes,
    ).toBeUndefined();
  });

  it("draws a line of its own for each fixed rate, from zero, with the threads that were run as ticks", () => {
    const { traces, layout } = throughputChart(data, palette);
    const lines = traces.filter((trace) => "mode" in trace && trace.mode === "lines" && trace.name === "A");
    expect(lines.map((trace) => ["y" in trace && trace.y, "showlegend" in trace && trace.showlegend])).toEqual([
      [[100, 350, 900], true],
      [[200], false],
    ]);
    expect(layout?.yaxis).toMatchObject({ rangemode: "tozero", title: { text: "Throughput, transactions/s" } });
    expect(layout?.xaxis).toMatchObject({ tickvals: [1, 4, 16] });
  });

  it("gives what it draws as rows", () => {
    expect(throughputRows(data).rows[0]).toEqual(["a", "run", 1, 7, 99, null, null]);
    expect(throughputRows(data).rows.at(-1)).toEqual(["a", "fit", 16, null, 905, 850, null]);
    expect(latencyRows(data).rows).toHaveLength(7);
  });

  it("reads a curve between its points and nowhere else", () => {
    expect(along([1, 2, 4], [10, 20, 30], 3)).toBe(25);
    expect(along([1, 2, 4], [10, 20, 30], 1)).toBe(10);
    expect(along([1, 2, 4], [10, 20, 30], 5)).toBeNull();
    expect(along([1, 2, 4], [10, 20, 30], 0.5)).toBeNull();
  });

  it("makes a colour faint only where it knows how", () => {
    expect([faint("#112233", "22"), faint("rebeccapurple", "22")]).toEqual(["#11223322", "rebeccapurple"]);
  });
});

describe("a growing table", () => {
  const stretches = (...rates: number[]) =>
    rates.map((rate, k) => ({ start: 10 * k, end: 10 * (k + 1), rate, slowest: rate, fastest: rate }));
  const growth: GrowthChart = {
    sides,
    runs: [
      { side: "a", run: 1, rows: 20, stretches: stretches(100, 90) },
      { side: "a", run: 2, rows: 20, stretches: stretches(101, 91) },
    ],
    bands: [{ side: 0, rows: [5, 15], slowest: [80, 60], fastest: [120, 110] }],
    shared: 20,
  };

  it("keeps the slowest and the fastest interval, and draws each run", () => {
    const { traces, layout } = growthChart(growth, palette);
    expect(traces.map((trace) => "y" in trace && trace.y)).toEqual([
      [80, 60],
      [120, 110],
      [100, 90],
      [101, 91],
    ]);
    expect(layout?.shapes?.[0]).toMatchObject({ x0: 20 });
    expect(traces.at(-1)).toMatchObject({ x: [5, 15] });
    expect(growthRows(growth).rows).toEqual([
      ["a", 1, 5, 100],
      ["a", 1, 15, 90],
      ["a", 2, 5, 101],
      ["a", 2, 15, 91],
    ]);
  });
});
