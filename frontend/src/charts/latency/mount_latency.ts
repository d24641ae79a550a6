// The chart of latency by percentile, on the page of a run and on Compare.
import type { LatencyChart } from "../../api/types.gen";
import { latencyChart, latencyRows } from "./latency";
import { mountChart } from "../mount";

export function mountLatency(data: LatencyChart, filename: string): void {
  mountChart(document.querySelector("#chart-percentiles"), {
    chart: (palette) => latencyChart(data, palette),
    table: () => latencyRows(data),
    filename,
    anchor: "chart-percentiles",
  });
}
