// The pages of published results: hatched bars beside the tables.
import "../../styles/published.css";
import { pageData } from "../../api/client";
import { mountActions } from "../../charts/actions";
import { toCsv } from "../../charts/csv";
import { drawWhenVisible } from "../../charts/plotly";
import { publishedBars, publishedRows, type PublishedChart } from "./chart";

// No element: nothing that may be charted.
const charts = document.getElementById("published-charts") ? pageData<PublishedChart[]>("published-charts") : [];

for (const plot of document.querySelectorAll<HTMLElement>(".chart__plot[data-chart]")) {
  const chart = charts[Number(plot.dataset["chart"])];
  const actions = plot.closest("figure")?.querySelector<HTMLElement>(".chart__actions");
  if (!chart || !actions) continue;
  drawWhenVisible(plot, (palette) => publishedBars(chart, palette));
  mountActions(actions, {
    filename: chart.anchor,
    plot,
    anchor: chart.anchor,
    csv: () => {
      const { header, rows } = publishedRows(chart);
      return toCsv(header, rows);
    },
  });
}
