import { expect, test } from "vitest";
import { palette } from "../../charts/palette.fixture";
import type { WorkChart, WorkPoint } from "../../api/types.gen";
import { order, workChart, workRows } from "./work_chart";

function point(name: string, ratio: number, side = 1): WorkPoint {
  return {
    metric: `work.${name}`,
    name,
    side,
    ratio,
    low: ratio / 1.1,
    high: ratio * 1.1,
    bar: [ratio / 1.1, ratio * 1.1],
    cut: [false, false],
    ratio_text: `${ratio} ×`,
    words: "better",
  };
}

const data: WorkChart = {
  level: "4",
  per: "transaction",
  sides: [
    { slug: "a", name: "Alpha", position: 0, tone: 0 },
    { slug: "b", name: "Beta", position: 1, tone: 1 },
  ],
  points: [point("redo log", 0.97), point("fsyncs", 0.1), point("server CPU", 2)],
  ratios: { band: [0.98, 1.02], range: [0.08, 2.5], ticks: [0.1, 1, 2], texts: ["0.1", "1", "2"] },
};

test("what differs most stands on top", () => {
  expect(order(data)).toEqual(["fsyncs", "server CPU", "redo log"]);
  const { traces } = workChart(data, palette);
  expect((traces[2] as { y: number[] }).y).toEqual([1, 3, 2]);
});

test("intervals and axis are the server's, and a logarithmic axis says so", () => {
  const { traces, layout } = workChart(data, palette);
  expect(traces[0]).toMatchObject({
    x: [0.97 / 1.1, 0.97 * 1.1, null, 0.1 / 1.1, 0.1 * 1.1, null, 2 / 1.1, 2.2, null],
  });
  expect((layout?.xaxis?.title as { text: string }).text).toContain("log scale");
  expect(layout?.xaxis?.tickvals).toEqual([0.1, 1, 2]);
});

test("a cut interval ends in an arrowhead, and a ratio without an interval is a hollow mark", () => {
  const points = [
    {
      ...point("fsyncs", 0.1),
      low: 0,
      bar: [0.08, 0.11] as [number, number],
      cut: [true, false] as [boolean, boolean],
    },
    { ...point("redo log", 0.97), low: null, high: null, bar: null, words: "too few repetitions" },
  ];
  const [bars, arrows, marks] = workChart({ ...data, points }, palette).traces;
  expect(bars).toMatchObject({ x: [0.08, 0.11, null] });
  expect(arrows).toMatchObject({ x: [0.08], y: [2], marker: { symbol: ["triangle-left"] } });
  expect(marks).toMatchObject({ x: [0.1, 0.97], marker: { symbol: ["square", "square-open"] } });
});

test("the data has every ratio with its interval and verdict", () => {
  const { header, rows } = workRows(data);
  expect(header).toContain("for each transaction");
  expect(rows[0]).toEqual(["b", "work.redo log", "redo log", 0.97, 0.97 / 1.1, 0.97 * 1.1, "better"]);
});
