import { expect, test } from "vitest";
import type { Series } from "../../../api/series";
import type { ClockSeries, NodeClock } from "../../../api/types.gen";
import { palette } from "../../../charts/palette.fixture";
import { chartHeight, clockChart, clockRows, type Loaded } from "./clock_chart";

const node = (side: number, name: string, metric: string, factor = 1): ClockSeries => ({
  side,
  run: side + 1,
  metric,
  node: name,
  factor,
});
const data: NodeClock = {
  level: "4",
  sides: [
    { slug: "a", name: "Alpha", position: 0, tone: 0 },
    { slug: "b", name: "Beta", position: 1, tone: 1 },
  ],
  indicators: [
    {
      key: "cpu.busy",
      title: "CPU: busy",
      drawn: true,
      rows: [{ title: "CPU: busy", unit: "%", series: [node(0, "n1", "c"), node(0, "n2", "c"), node(1, "n1", "c")] }],
    },
    {
      key: "disk.busy",
      title: "Disk: busy",
      drawn: false,
      rows: [{ title: "Disk: busy", unit: "%", series: [node(0, "n1", "d")] }],
    },
    {
      key: "locks",
      title: "Locks: waiting",
      drawn: true,
      rows: [{ title: "Locks: waiting", unit: "%", series: [node(1, "n1", "l")] }],
    },
  ],
};
const loaded: Loaded = ({ metric, node: name }) =>
  name === "n2"
    ? undefined
    : ({
        metric,
        name: metric,
        node: name,
        unit: "%",
        at: [0, 1],
        values: [10, null],
        kind: "gauge",
      } as unknown as Series);

test("chosen indicators are rows with an axis of their own on one axis of time", () => {
  const { traces, layout } = clockChart(data, loaded, [2, 5], palette);
  expect(traces.map((trace) => [trace.name, "yaxis" in trace && trace.yaxis])).toEqual([
    ["Alpha, n1", "y"],
    ["Beta, n1", "y"],
    ["Beta, n1", "y2"],
  ]);
  expect(traces.every((trace) => !("xaxis" in trace))).toBe(true);
  expect(layout?.xaxis).toMatchObject({ range: [2, 5], showspikes: true, anchor: "y2" });
  expect(layout?.annotations?.map((each) => each.text)).toEqual(["<b>CPU: busy, %</b>", "<b>Locks: waiting, %</b>"]);
  expect(chartHeight(data)).toBe(60 + 2 * 104);
});

test("rows lie below each other without overlap", () => {
  const { layout } = clockChart(data, loaded, null, palette);
  const [first, second] = [layout?.yaxis?.domain, layout?.yaxis2?.domain];
  expect(second?.[1]).toBeLessThan(first?.[0] ?? 0);
  expect(second?.[0]).toBe(0);
});

test("a line is named and coloured by its side, once in the legend, and a gap stays a gap", () => {
  const { traces } = clockChart(data, loaded, null, palette);
  expect(traces.map((trace) => "showlegend" in trace && trace.showlegend)).toEqual([true, true, false]);
  expect(traces[1]).toMatchObject({ line: { color: palette.sides[1] }, y: [10, null], connectgaps: false });
});

test("no two nodes of a side have the same line", () => {
  const names = Array.from({ length: 9 }, (_, place) => `db${place + 1}`);
  const busy = { title: "CPU: busy", unit: "%", series: names.map((name) => node(0, name, "c")) };
  const many = { ...data, indicators: [{ key: "cpu.busy", title: "CPU: busy", drawn: true, rows: [busy] }] };
  const { traces } = clockChart(many, loaded, null, palette);
  expect(traces).toHaveLength(names.length);
  expect(new Set(traces.map((trace) => JSON.stringify("line" in trace && trace.line))).size).toBe(names.length);
});

test("the CSV has every drawn value with its run and node", () => {
  expect(clockRows(data, loaded).rows[0]).toEqual(["cpu.busy", "a", 1, "n1", 0, 10, "%"]);
  expect(clockRows(data, loaded).rows).toHaveLength(6);
});

test("each side's metric has the unit of its row, and a metric in another unit has a row of its own", () => {
  const mixed: NodeClock = {
    ...data,
    indicators: [
      {
        key: "disk.await_read",
        title: "Disk: response time of reads",
        drawn: true,
        rows: [
          { title: "Disk: response time of reads", unit: "ms", series: [node(0, "n1", "a"), node(1, "n1", "b", 1000)] },
        ],
      },
      {
        key: "memory.used",
        title: "Memory: used",
        drawn: true,
        rows: [
          { title: "Memory: used", unit: "%", series: [node(0, "n1", "m")] },
          { title: "Memory free", unit: "bytes", series: [node(1, "n1", "f")] },
        ],
      },
    ],
  };
  const { traces, layout } = clockChart(mixed, loaded, null, palette);
  expect(traces).toMatchObject([
    { yaxis: "y", y: [10, null] },
    { yaxis: "y", y: [10000, null], hovertemplate: "Disk: response time of reads %{y:,.3~g} ms" },
    { yaxis: "y2" },
    { yaxis: "y3" },
  ]);
  expect(layout?.annotations?.map((each) => each.text)).toEqual([
    "<b>Disk: response time of reads, ms</b>",
    "<b>Memory: used, %</b>",
    "<b>Memory free, bytes</b>",
  ]);
  expect(chartHeight(mixed)).toBe(60 + 3 * 104);
  expect(clockRows(mixed, loaded).rows[2]).toEqual(["disk.await_read", "b", 2, "n1", 0, 10000, "ms"]);
});
