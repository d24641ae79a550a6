import { expect, test } from "vitest";
import { palette } from "../../charts/palette.fixture";
import type { BarChart } from "../../api/types.gen";
import { publishedBars, publishedRows } from "./chart";

const chart: BarChart = {
  anchor: "chart-x",
  title: "Service interruption",
  subtitle: "ha failover",
  metric_name: "service interruption",
  unit: "s",
  direction_words: "lower is better",
  source: "Marco Tusa, 2015-11-01",
  bars: [
    { group: "", side: "PXC", color: 1, value: 15, stated: "15", text: "15 s" },
    { group: "", side: "r4.4xlarge", color: null, value: 120, stated: "at least 120", text: "at least 120 s" },
  ],
};

test("published bars are hatched, in the platform's colour, and carry the words of the article", () => {
  const { traces } = publishedBars(chart, palette);
  expect(traces[0]).toMatchObject({
    x: [15, 120],
    text: ["15", "at least 120"],
    hovertext: [
      "PXC: 15 s, published, no interval stated",
      "r4.4xlarge: at least 120 s, published, no interval stated",
    ],
    marker: { pattern: { shape: "/" }, color: [palette.sides[1], palette.muted] },
  });
});

test("the axis starts at zero and says quantity, unit and direction", () => {
  const { layout } = publishedBars(chart, palette);
  expect(layout.xaxis).toMatchObject({ title: { text: "service interruption, <br>s, lower is better" } });
  expect(layout.xaxis?.range?.[0]).toBe(0);
  expect(layout.yaxis).toMatchObject({ ticktext: ["PXC", "r4.4xlarge"], autorange: "reversed" });
});

test("conditions stand above the side where a chart has several", () => {
  const grouped = { ...chart, bars: chart.bars.map((bar) => ({ ...bar, group: "add index" })) };
  expect(publishedBars(grouped, palette).layout.yaxis?.ticktext).toEqual([
    "add index<br>PXC",
    "add index<br>r4.4xlarge",
  ]);
});

test("the data keep value and wording apart", () => {
  expect(publishedRows(chart).rows[1]).toEqual([
    "ha failover",
    "r4.4xlarge",
    120,
    "at least 120 s",
    "Marco Tusa, 2015-11-01",
  ]);
});
