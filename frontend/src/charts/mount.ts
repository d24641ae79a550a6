// A figure's chart with its actions, drawn when it comes into view.
import { mountActions, type ChartActions } from "./actions";
import { toCsv, type Cell } from "./csv";
import { drawWhenVisible, type ChartSource } from "./plotly";

export interface Table {
  header: string[];
  rows: Cell[][];
}

export interface MountedChart extends Pick<ChartActions, "filename" | "anchor" | "address"> {
  chart: ChartSource;
  /** The data, or the address of a file of them. */
  table: (() => Table) | string;
}

/** `figure` has a `.chart__plot` and `.chart__actions`; null: the page has no such chart. */
export function mountChart(figure: Element | null | undefined, { chart, table, ...actions }: MountedChart): void {
  const plot = figure?.querySelector<HTMLElement>(".chart__plot");
  const holder = figure?.querySelector<HTMLElement>(".chart__actions");
  if (!plot || !holder) return;
  drawWhenVisible(plot, chart);
  const csv = (): string => {
    const { header, rows } = (table as () => Table)();
    return toCsv(header, rows);
  };
  mountActions(holder, { ...actions, plot, csv: typeof table === "string" ? table : csv });
}
