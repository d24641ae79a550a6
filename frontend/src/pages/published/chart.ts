// Bars of published figures: hatched, from zero, each with what the article states. Values come ready from the server.
import type { Data, Layout } from "plotly.js";
import type { BarChart } from "../../api/types.gen";
import type { Cell } from "../../charts/csv";
import { axis, publishedMarker, sideColor, type Palette } from "../../charts/style";

// Pixels that a character of a bar's words takes at most.
const CHARACTER = 7;

export function publishedBars(chart: BarChart, palette: Palette): { traces: Data[]; layout: Partial<Layout> } {
  const places = chart.bars.map((_, place) => place);
  const colors = chart.bars.map((bar) => (bar.color === null ? palette.muted : sideColor(palette, bar.color)));
  const trace = {
    type: "bar",
    orientation: "h",
    x: chart.bars.map((bar) => bar.value),
    y: places,
    width: 0.66,
    text: chart.bars.map((bar) => bar.stated),
    textposition: "outside",
    cliponaxis: false,
    constraintext: "none",
    hovertext: chart.bars.map((bar) => `${bar.side}: ${bar.text}, published, no interval stated`),
    hoverinfo: "text",
    marker: { ...publishedMarker(palette.muted), color: colors, line: { color: colors, width: 1.5 } },
  } as unknown as Data;
  const most = Math.max(...chart.bars.map((bar) => bar.value));
  const longest = Math.max(...chart.bars.map((bar) => bar.stated.length));
  const unit = chart.unit ? `${chart.unit}, ` : "";
  return {
    traces: [trace],
    layout: {
      xaxis: axis(chart.metric_name, `<br>${unit}${chart.direction_words}`, { range: [0, most || 1], nticks: 4 }),
      yaxis: {
        tickvals: places,
        ticktext: chart.bars.map((bar) => (bar.group ? `${bar.group}<br>${bar.side}` : bar.side)),
        autorange: "reversed",
        fixedrange: true,
        showgrid: false,
        zeroline: false,
        ticklen: 0,
      },
      // Room to the right of the longest bar for its words, however narrow the chart is.
      margin: { l: 8, r: 12 + longest * CHARACTER, t: 8, b: 8 },
      dragmode: false,
    },
  };
}

export function publishedRows(chart: BarChart): { header: string[]; rows: Cell[][] } {
  return {
    header: [
      "conditions",
      "side",
      `${chart.metric_name}${chart.unit ? ` (${chart.unit})` : ""}`,
      "as stated",
      "source",
    ],
    rows: chart.bars.map((bar) => [bar.group || chart.subtitle, bar.side, bar.value, bar.text, chart.source]),
  };
}
