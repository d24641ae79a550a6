// The part "Steadiness" of Compare: boxes of the seconds.
import "../../styles/compare/steadiness.css";
import { pageData } from "../../api/client";
import { mountActions } from "../../charts/actions";
import { toCsv } from "../../charts/csv";
import { drawWhenVisible } from "../../charts/plotly";
import { steadinessChart, steadinessRows, type SteadinessData } from "./steadiness_chart";

export function mount(root: HTMLElement): void {
  const figure = root.querySelector<HTMLElement>("#chart-steadiness");
  const plot = figure?.querySelector<HTMLElement>(".chart__plot");
  const actions = figure?.querySelector<HTMLElement>(".chart__actions");
  if (!figure || !plot || !actions) return;
  const data = pageData<SteadinessData>("steadiness-data");
  drawWhenVisible(plot, (palette) => steadinessChart(data, palette));
  mountActions(actions, {
    filename: `compare-steadiness-${data.level}`,
    plot,
    anchor: "steadiness",
    csv: () => {
      const { header, rows } = steadinessRows(data);
      return toCsv(header, rows);
    },
  });
}
