// The part "Steadiness" of Compare: boxes of the seconds.
import "../../styles/compare/steadiness.css";
import { pageData } from "../../api/client";
import { mountChart } from "../../charts/mount";
import { steadinessChart, steadinessRows } from "./steadiness_chart";

export function mount(root: HTMLElement): void {
  const figure = root.querySelector("#chart-steadiness");
  if (!figure) return;
  const data = pageData("steadiness-data");
  mountChart(figure, {
    chart: (palette) => steadinessChart(data, palette),
    table: () => steadinessRows(data),
    filename: `compare-steadiness-${data.level}`,
    anchor: "steadiness",
  });
}
