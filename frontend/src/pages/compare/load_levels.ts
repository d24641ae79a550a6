// The part "Over threads" of Compare: throughput and latency over load levels, and growing tables.
import "../../styles/compare/load_levels.css";
import { pageData } from "../../api/client";
import { mountChart, type Table } from "../../charts/mount";
import {
  growthChart,
  growthRows,
  latencyChart,
  latencyRows,
  throughputChart,
  throughputRows,
} from "./load_levels_chart";
import type { Chart, Palette } from "../../charts/plotly";

interface Drawn<T> {
  chart: (data: T, palette: Palette) => Chart;
  rows: (data: T) => Table;
}

function drawInto<T>(root: HTMLElement, id: string, data: () => T, { chart, rows }: Drawn<T>): void {
  const figure = root.querySelector(`#${id}`);
  if (!figure) return;
  const found = data();
  mountChart(figure, {
    chart: (palette) => chart(found, palette),
    table: () => rows(found),
    filename: `compare-${id.replace("chart-", "")}`,
    anchor: "ladder",
  });
}

export function mount(root: HTMLElement): void {
  const data = () => pageData("load-levels-data");
  drawInto(root, "chart-ladder-throughput", data, { chart: throughputChart, rows: throughputRows });
  drawInto(root, "chart-ladder-latency", data, { chart: latencyChart, rows: latencyRows });
  drawInto(root, "chart-growth", () => pageData("growth-data"), { chart: growthChart, rows: growthRows });
}
