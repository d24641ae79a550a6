import { expect, test } from "vitest";
import type { Series } from "../../api/series";
import { byUnit, timelineAddress, timelineChart, timelineRows, type TimelineLine } from "./chart";
import { palette } from "../../charts/palette.fixture";

function aLine(place: number, fields: Partial<Series> = {}): TimelineLine {
  const series: Series = {
    metric: "client.throughput",
    name: "throughput",
    unit: "transactions/s",
    direction: "higher",
    node: "client",
    kind: "gauge",
    at: [0, 1],
    values: [10, 12],
    resets: [],
    zero: 0,
    ...fields,
  };
  const { metric, node } = series;
  const chosen = { run: place + 1, metric, node, label: `run ${place + 1}`, tone: place, dash: place % 6 };
  return { chosen, series };
}

test("an address names run, metric and node of each series", () => {
  const series = [
    { run: 7, metric: "client.throughput", node: "client" },
    { run: 8, metric: "mysql.status.Questions", node: "10.0.0.7:3306" },
  ];
  expect(timelineAddress(series)).toBe(
    "/timeline/?series=7:client.throughput:client&series=8:mysql.status.Questions:10.0.0.7:3306",
  );
});

test("a second unit has a chart of its own, never a second axis", () => {
  const panels = byUnit([aLine(0), aLine(1, { unit: "ms" }), aLine(2)]);
  expect(panels.map(({ unit, lines }) => [unit, lines.length])).toEqual([
    ["transactions/s", 2],
    ["ms", 1],
  ]);
  const [first] = panels;
  expect(first && timelineChart(first, { palette, range: null, since: "first fault" }).layout).not.toHaveProperty(
    "yaxis2",
  );
});

test("a line has the tone and dash of its row in the table, whatever chart it stands in", () => {
  const panel = { unit: "ms", lines: [aLine(1), aLine(10)] };
  const { traces, layout } = timelineChart(panel, { palette, range: [-2, 5], since: "first fault" });
  expect(traces).toMatchObject([
    { line: { color: palette.sides[1], dash: "dash" } },
    { line: { color: palette.sides[10], dash: "longdash" } },
  ]);
  expect(layout?.xaxis).toMatchObject({ range: [-2, 5], title: { text: "Time since the first fault, s" } });
});

test("the CSV has a row for each point with its run", () => {
  expect(timelineRows({ unit: "ms", lines: [aLine(0)] }).rows[1]).toEqual([
    "run 1",
    1,
    "client.throughput",
    "client",
    "transactions/s",
    1,
    12,
  ]);
});
