// The chart of latency by percentile, on the page of a run and on Compare.
import { mountActions } from "../charts/actions";
import { toCsv } from "../charts/csv";
import { latencyChart, latencyRows, type LatencyData } from "../charts/latency";
import { drawWhenVisible } from "../charts/plotly";

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
