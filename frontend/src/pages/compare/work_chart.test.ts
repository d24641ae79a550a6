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
  expect((traces[0] as { y: number[] }).y).toEqual([1, 3, 2]);
});

test("intervals and axis are the server's, and a logarithmic axis says so", () => {
  const { traces, layout } = workChart(data, palette);
  const bars = (traces[0] as { error_x: { array: number[] } }).error_x.array;
  expect(bars[1]).toBeCloseTo(0.01);
  expect((layout?.xaxis?.title as { text: string }).text).toContain("log scale");
  expect(layout?.xaxis?.tickvals).toEqual([0.1, 1, 2]);
});

test("the data has every ratio with its interval and verdict", () => {
  const { header, rows } = workRows(data);
  expect(header).toContain("for each transaction");
  expect(rows[0]).toEqual(["b", "work.redo log", "redo log", 0.97, 0.97 / 1.1, 0.97 * 1.1, "better"]);
});
