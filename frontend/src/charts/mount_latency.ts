// The chart of latency by percentile, on the page of a run and on Compare.
import { mountActions } from "./actions";
import { toCsv } from "./csv";
import { latencyChart, latencyRows, type LatencyData } from "./latency";
import { drawWhenVisible } from "./plotly";

export function mountLatency(data: LatencyData, filename: string): void {
  const figure = document.querySelector<HTMLElement>("#chart-percentiles");
  const plot = figure?.querySelector<HTMLElement>(".chart__plot");
  const actions = figure?.querySelector<HTMLElement>(".chart__actions");
  if (!figure || !plot || !actions) return;
  drawWhenVisible(plot, (palette) => latencyChart(data, palette));
  mountActions(actions, {
    filename,
    plot,
    anchor: figure.id,
    csv: () => {
      const { header, rows } = latencyRows(data);
      return toCsv(header, rows);
    },
  });
}
