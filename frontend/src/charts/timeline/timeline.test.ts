import { expect, test } from "vitest";
import type { Series } from "../../api/series";
import {
  broken,
  clockChart,
  clockShapes,
  eventTrace,
  extent,
  gapShapes,
  lineTrace,
  seriesRows,
  unobserved,
  type Clock,
} from "./timeline";
import { palette } from "../palette.fixture";
import { COLORS } from "../style";

function aSeries(fields: Partial<Series> = {}): Series {
  return {
    metric: "client.throughput",
    name: "Throughput",
    unit: "transactions/s",
    direction: "higher",
    node: "client",
    kind: "gauge",
    at: [1, 2, 3],
    values: [10, null, 12],
    resets: [],
    zero: 0,
    ...fields,
  };
}

const clock: Clock = { color: 1, measured: null, events: [], whole: null, zoom: null };
const options = { palette, clock, words: true, quantity: "Throughput" };

test("a second that was not observed is a gap in the line", () => {
  expect(lineTrace(aSeries(), "#000000", "client")).toMatchObject({ y: [10, null, 12], connectgaps: false });
});

test("a value between two gaps is a point, for it has no line", () => {
  const alone = lineTrace(aSeries({ at: [1, 2, 3, 4, 5], values: [10, null, 12, null, null] }), "#000000", "client");
  expect(alone).toMatchObject({ mode: "lines+markers", marker: { size: [5, 0, 5, 0, 0] } });
  expect(lineTrace(aSeries({ values: [10, 11, null] }), "#000000", "client")).toMatchObject({ mode: "lines" });
});

test("values start at zero and the axis carries quantity and unit", () => {
  const { layout } = clockChart([aSeries()], ["client"], options);
  expect(layout?.yaxis).toMatchObject({ rangemode: "tozero", title: { text: "Throughput, transactions/s" } });
});

test("warm-up and what came after the measured phase are shaded", () => {
  const shapes = clockShapes({ ...clock, measured: [10, 60] }, [0, 65], palette);
  expect(shapes.map(({ x0, x1 }) => [x0, x1])).toEqual([
    [0, 10],
    [60, 65],
  ]);
});

test("a run without a known measured phase has no shade", () => {
  expect(clockShapes(clock, [0, 65], palette)).toEqual([]);
});

test("an event is a thin line with its words on hover, an outage also a band", () => {
  const events = [{ kind: "promotion", label: "db2 promoted", starts_at: 5, ends_at: 8, node: "db2" }];
  expect(clockShapes({ ...clock, events }, [0, 20], palette).map(({ type }) => type)).toEqual(["line"]);
  const outage = [{ kind: "outage", label: "no write", starts_at: 5, ends_at: 8, node: "client" }];
  expect(clockShapes({ ...clock, events: outage }, [0, 20], palette).map(({ type }) => type)).toEqual(["rect", "line"]);
  const { traces } = clockChart([aSeries()], ["client"], { ...options, clock: { ...clock, events } });
  expect(traces.at(-1)).toMatchObject({ x: [5], text: ["db2 promoted on db2"] });
});

test("a counter that started over is marked, not drawn as a negative rate", () => {
  const { traces } = clockChart([aSeries({ resets: [2] })], ["db1"], options);
  expect(traces[1]).toMatchObject({ x: [2], y: [0] });
});

test("nodes are tones of the platform's colour, with dashes", () => {
  const { traces } = clockChart([aSeries(), aSeries({ node: "db2" })], ["db1", "db2"], options);
  expect(traces.slice(0, 2)).toMatchObject([
    { line: { color: palette.sides[1], dash: "solid" } },
    { line: { color: palette.sides[1 + COLORS], dash: "dash" } },
  ]);
});

test("no two of many nodes have the same line", () => {
  const names = Array.from({ length: 15 }, (_, place) => `db${place + 1}`);
  const { traces } = clockChart(
    names.map((node) => aSeries({ node })),
    names,
    options,
  );
  const lines = traces.slice(0, names.length).map((trace) => JSON.stringify("line" in trace && trace.line));
  expect(new Set(lines).size).toBe(names.length);
});

test("the reader's zoom wins over the whole clock", () => {
  const zoomed = clockChart([aSeries()], ["client"], { ...options, clock: { ...clock, zoom: [1.5, 2.5] } });
  expect(zoomed.layout?.xaxis).toMatchObject({ range: [1.5, 2.5] });
  expect(extent([])).toBeNull();
});

test("every chart shows the same stretch of the clock", () => {
  const { layout } = clockChart([aSeries()], ["client"], { ...options, clock: { ...clock, whole: [0, 2.5] } });
  expect(layout?.xaxis).toMatchObject({ range: [0, 3] });
});

test("a chart drawn alone has the whole warm-up shaded", () => {
  const { layout } = clockChart([aSeries({ at: [3, 4, 5], values: [1, 2, 3] })], ["client"], {
    ...options,
    clock: { ...clock, measured: [4, 20], whole: [0, 21] },
  });
  expect(layout?.xaxis).toMatchObject({ range: [0, 21] });
  expect(layout?.shapes?.map(({ x0, x1 }) => [x0, x1])).toEqual([
    [0, 4],
    [20, 21],
  ]);
});

test("the CSV holds every plotted point with its node and unit", () => {
  expect(seriesRows([aSeries({ at: [1], values: [null] })]).rows).toEqual([
    ["client.throughput", "client", "transactions/s", 1, null],
  ]);
});

test("states of nodes are marked at the edge alone", () => {
  const events = [{ kind: "node_state", label: "UP → DOWN", starts_at: 5, ends_at: null, node: "proxy" }];
  expect(clockShapes({ ...clock, events }, [0, 20], palette)).toEqual([]);
  expect(eventTrace(events, palette)).toHaveLength(1);
});

test("the load's span has no band: it would hide the phases", () => {
  const events = [{ kind: "load", label: "sysbench", starts_at: 1, ends_at: 19, node: "client" }];
  expect(clockShapes({ ...clock, events }, [0, 20], palette).map(({ type }) => type)).toEqual(["line"]);
});

test("a stretch without a value is shaded and called so, once for all lines", () => {
  const gap = aSeries({ at: [1, 2, 3, 4, 5], values: [null, 10, null, null, 12] });
  const { layout } = clockChart([gap, gap], ["db1", "db2"], options);
  expect(layout?.shapes).toMatchObject([{ x0: 2, x1: 5, label: { text: "not observed" } }]);
  expect(unobserved(aSeries({ values: [10, null, null] }))).toEqual([[1, 3]]);
});

test("a value that the warm-up misses leaves the measured phase unshaded", () => {
  const gap = aSeries({ at: [1.353, 2.353, 3.353, 4.353], values: [9, 10, null, 12] });
  expect(gapShapes([gap], [3.3524, 60], palette)).toMatchObject([{ x0: 2.353, x1: 3.3524 }]);
  expect(gapShapes([gap], [2.3524, 60], palette)).toMatchObject([{ x0: 2.353, x1: 4.353 }]);
});

test("charts of one run have the same left margin, whatever their values", () => {
  const margins = [1, 123456].map(
    (most) => clockChart([aSeries({ values: [1, most] })], ["c"], options).layout?.margin,
  );
  expect(margins[0]).toEqual(margins[1]);
});

test("stolen CPU time is a band that says what it is, and no mark", () => {
  const events = [
    { kind: "steal", label: "up to 12 % of the CPU time was stolen", starts_at: 5, ends_at: 8, node: "db1" },
  ];
  const { layout, traces } = clockChart([aSeries()], ["client"], { ...options, clock: { ...clock, events } });
  expect(layout?.shapes?.[0]).toMatchObject({ x0: 5, x1: 8, label: { text: "CPU stolen" } });
  expect(JSON.stringify(traces)).not.toContain("stolen");
});

test("totals that started over are two lines with a word between them", () => {
  const totals = aSeries({ kind: "counter", at: [1, 2, 4], values: [100, 200, 5], resets: [4] });
  expect(broken(totals)).toEqual({ x: [1, 2, 4, 4], y: [100, 200, null, 5] });
  const { traces } = clockChart([totals], ["db1"], options);
  expect(traces[1]).toMatchObject({ x: [4], text: ["started over"] });
});

test("kinds of events that the reader left out are neither marked nor shaded", () => {
  const events = [{ kind: "outage", label: "no write", starts_at: 5, ends_at: 8, node: "client" }];
  const { layout, traces } = clockChart([aSeries({ values: [1, 2, 3] })], ["client"], {
    ...options,
    clock: { ...clock, events, hidden: ["outage"] },
  });
  expect(layout?.shapes).toEqual([]);
  expect(traces).toHaveLength(1);
});
