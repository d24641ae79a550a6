// The part "Over threads" of Compare: throughput and latency over the ladder, and growing tables.
import "../../styles/compare/load_levels.css";
import { pageData } from "../../api/client";
import { mountActions } from "../../charts/actions";
import { toCsv, type Cell } from "../../charts/csv";
import {
  growthChart,
  growthRows,
  latencyChart,
  latencyRows,
  throughputChart,
  throughputRows,
  type Chart,
  type GrowthData,
  type LadderData,
} from "./load_levels_chart";
import { drawWhenVisible, type Palette } from "../../charts/plotly";

interface Drawn<T> {
  chart: (data: T, palette: Palette) => Chart;
  rows: (data: T) => { header: string[]; rows: Cell[][] };
}

function drawInto<T>(root: HTMLElement, id: string, data: () => T, { chart, rows }: Drawn<T>): void {
  const figure = root.querySelector<HTMLElement>(`#${id}`);
  const plot = figure?.querySelector<HTMLElement>(".chart__plot");
  const actions = figure?.querySelector<HTMLElement>(".chart__actions");
  if (!figure || !plot || !actions) return;
  const found = data();
  drawWhenVisible(plot, (palette) => chart(found, palette));
  mountActions(actions, {
    filename: `compare-${id.replace("chart-", "")}`,
    plot,
    anchor: "ladder",
    csv: () => {
      const table = rows(found);
      return toCsv(table.header, table.rows);
    },
  });
}

export function mount(root: HTMLElement): void {
  const ladder = () => pageData<LadderData>("ladder-data");
  drawInto(root, "chart-ladder-throughput", ladder, { chart: throughputChart, rows: throughputRows });
  drawInto(root, "chart-ladder-latency", ladder, { chart: latencyChart, rows: latencyRows });
  drawInto(root, "chart-growth", () => pageData<GrowthData>("growth-data"), { chart: growthChart, rows: growthRows });
}
