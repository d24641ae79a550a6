// The part "Work" of Compare: ratios of what servers and machines did.
import "../../styles/compare/steadiness.css";
import { pageData } from "../../api/client";
import { mountActions } from "../../charts/actions";
import { toCsv } from "../../charts/csv";
import { drawWhenVisible } from "../../charts/plotly";
import { chartHeight, workChart, workRows, type WorkData } from "./work_chart";

export function mount(root: HTMLElement): void {
  const figure = root.querySelector<HTMLElement>("#chart-work");
  const plot = figure?.querySelector<HTMLElement>(".chart__plot");
  const actions = figure?.querySelector<HTMLElement>(".chart__actions");
  if (!figure || !plot || !actions) return;
  const data = pageData<WorkData>("work-data");
  plot.style.height = `${chartHeight(data)}px`;
  drawWhenVisible(plot, (palette) => workChart(data, palette));
  mountActions(actions, {
    filename: `compare-work-${data.level}`,
    plot,
    anchor: "work",
    csv: () => {
      const { header, rows } = workRows(data);
      return toCsv(header, rows);
    },
  });
}
