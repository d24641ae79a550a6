// The part "Work" of Compare: ratios of what servers and machines did.
import "../../styles/compare/steadiness.css";
import { pageData } from "../../api/client";
import { mountChart } from "../../charts/mount";
import { chartHeight, workChart, workRows } from "./work_chart";

export function mount(root: HTMLElement): void {
  const figure = root.querySelector("#chart-work");
  const plot = figure?.querySelector<HTMLElement>(".chart__plot");
  if (!plot) return;
  const data = pageData("work-data");
  plot.style.height = `${chartHeight(data)}px`;
  mountChart(figure, {
    chart: (palette) => workChart(data, palette),
    table: () => workRows(data),
    filename: `compare-work-${data.level}`,
    anchor: "work",
  });
}
