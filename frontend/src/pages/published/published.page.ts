// The pages of published results: hatched bars beside the tables.
import "../../styles/published.css";
import { pageData } from "../../api/client";
import { mountChart } from "../../charts/mount";
import { publishedBars, publishedRows } from "./chart";

// No element: nothing that may be charted.
const charts = document.getElementById("published-charts") ? pageData("published-charts") : [];

for (const chart of charts) {
  mountChart(document.getElementById(chart.anchor), {
    chart: (palette) => publishedBars(chart, palette),
    table: () => publishedRows(chart),
    filename: chart.anchor,
    anchor: chart.anchor,
  });
}
