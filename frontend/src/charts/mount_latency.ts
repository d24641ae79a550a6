// The chart of latency by percentile, on the page of a run and on Compare.
import { latencyChart, latencyRows, type LatencyData } from "./latency";
import { mountChart } from "./mount";

export function mountLatency(data: LatencyData, filename: string): void {
  mountChart(document.querySelector("#chart-percentiles"), {
    chart: (palette) => latencyChart(data, palette),
    table: () => latencyRows(data),
    filename,
    anchor: "chart-percentiles",
  });
}
