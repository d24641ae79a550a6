// Ratios of one side to the baseline as marks with their intervals: pure functions of what the server computed.
import type { Data } from "plotly.js";
import type { ChartSide } from "../../api/types.gen";
import { sideColor, sideSymbol, type Palette } from "../../charts/style";

/** `bar`: the interval as drawn, null: there is none; `cut`: whether its ends go on beyond; `at`: its place on the page. */
export interface RatioMark {
  ratio: number | null;
  bar: [number, number] | null;
  cut: [boolean, boolean];
  at: number;
  text: string;
}

/** What is said of a mark besides its text. */
export function goesOn(cut: [boolean, boolean]): string {
  return cut.some(Boolean) ? "<br>the arrow: the interval goes on beyond the chart" : "";
}

export function ratioTraces(side: ChartSide, marks: RatioMark[], palette: Palette, inLegend: boolean): Data[] {
  const color = sideColor(palette, side.tone);
  const symbol = sideSymbol(side.tone);
  const shared = { type: "scatter", name: side.name, legendgroup: side.slug, showlegend: false } as const;
  const cuts = marks.flatMap(({ bar, cut, at, text }) =>
    ([0, 1] as const).flatMap((end) =>
      bar && cut[end] ? [{ x: bar[end], y: at, symbol: end ? "triangle-right" : "triangle-left", text }] : [],
    ),
  );
  return [
    {
      ...shared,
      mode: "lines",
      hoverinfo: "skip",
      x: marks.flatMap(({ bar }) => (bar ? [...bar, null] : [])),
      y: marks.flatMap(({ bar, at }) => (bar ? [at, at, null] : [])),
      line: { color, width: 2 },
    },
    // An arrowhead where the interval goes on.
    {
      ...shared,
      mode: "markers",
      x: cuts.map((cut) => cut.x),
      y: cuts.map((cut) => cut.y),
      marker: { size: 10, symbol: cuts.map((cut) => cut.symbol), color },
      text: cuts.map((cut) => cut.text),
      hovertemplate: `<b>${side.name}</b>, %{text}<extra></extra>`,
    } as Data,
    // A ratio without an interval is no result: its mark is hollow.
    {
      ...shared,
      mode: "markers",
      showlegend: inLegend,
      x: marks.map(({ ratio }) => ratio),
      y: marks.map(({ at }) => at),
      marker: {
        size: 9,
        symbol: marks.map(({ bar }) => (bar ? symbol : `${symbol}-open`)),
        color,
        line: { color: marks.map(({ bar }) => (bar ? palette.surface : color)), width: 1.5 },
      },
      text: marks.map(({ text }) => text),
      hovertemplate: `<b>${side.name}</b>, %{text}<extra></extra>`,
    } as Data,
  ];
}
