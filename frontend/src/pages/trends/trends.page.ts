// Watched series and their thresholds: a chart of each series.
import "../../styles/published.css";
import "../../styles/trends.css";
import { pageData } from "../../api/client";
import { mountChart } from "../../charts/mount";
import { trendChart, trendRows } from "./trend_chart";

// No element: a list, or a series without runs.
const charts = document.getElementById("trend-charts") ? pageData("trend-charts") : [];

for (const chart of charts) {
  const figure = document.getElementById(chart.anchor);
  mountChart(figure, {
    chart: (palette) => trendChart(chart, figure?.clientWidth ?? 0, palette),
    table: () => trendRows(chart),
    filename: chart.anchor,
    anchor: chart.anchor,
  });
}
