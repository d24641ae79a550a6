// The charts that stand on the page's own data: the forest plots and the curves.
import { pageData } from "../../api/client";
import type { ChartMetric, CompareCharts } from "../../api/types.gen";
import { mountChart, type Table } from "../../charts/mount";
import { drawnInView, type Chart, type Palette } from "../../charts/plotly";
import { curveChart, curveRows } from "./curve_chart";
import { forestChart, ratioRows } from "./forest_chart";

// Below this width, in px, a forest plot has no room for numbers beside it.
const NARROW = 430;

interface Kind {
  name: string;
  chart: (data: CompareCharts, metric: ChartMetric, palette: Palette, narrow: boolean) => Chart;
  rows: (data: CompareCharts, metric: ChartMetric) => Table;
}

const KINDS: Record<string, Kind> = {
  forest: { name: "ratio", chart: forestChart, rows: ratioRows },
  curve: { name: "curve", chart: curveChart, rows: curveRows },
};

/** Draws all within `root` that the page's data has. */
export function drawWithin(root: ParentNode): void {
  const plots = [...root.querySelectorAll<HTMLElement>("[data-chart=forest], [data-chart=curve]")];
  if (plots.length === 0 || !document.getElementById("compare-data")) return;
  const data = pageData("compare-data");
  for (const plot of plots) {
    const metric = data.metrics.find((each) => each.key === plot.dataset["metric"]);
    const kind = KINDS[plot.dataset["chart"] ?? ""];
    const figure = plot.closest("figure");
    if (!metric || !kind || !figure) continue;
    mountChart(figure, {
      chart: (palette) => kind.chart(data, metric, palette, plot.clientWidth < NARROW),
      table: () => kind.rows(data, metric),
      filename: `compare-${kind.name}-${metric.kind}`,
      anchor: figure.id,
    });
  }
}

/** The charts above the tabs; resolves when those in view are drawn. */
export async function drawAnswer(): Promise<void> {
  const top = document.querySelector(".compare-top");
  if (!top) return;
  drawWithin(top);
  await drawnInView();
}
