// The schema changes page: a chart of each system's runs.
import "../../styles/published.css";
import "../../styles/schema_changes.css";
import { pageData } from "../../api/client";
import { mountChart } from "../../charts/mount";
import { changeChart } from "./change_chart";

for (const chart of pageData("change-charts")) {
  mountChart(document.getElementById(chart.anchor), {
    chart: (palette) => changeChart(chart, palette),
    table: chart.data_url,
    filename: `ddl-${chart.anchor}`,
    anchor: chart.anchor,
  });
}
