// The runs of a schema change around their statements, throughput above latency: pure functions of the server's data.
import type { Annotations, Data, LayoutAxis, Shape } from "plotly.js";
import type { ChangeChart, ChangePanel } from "../../api/types.gen";
import type { Chart } from "../../charts/plotly";
import { axis, axisTitle, runAddress, sideColor, type Palette } from "../../charts/style";

const GAP = 0.14;

/** The first is at the top. */
function domain(place: number, count: number): [number, number] {
  const height = (1 - GAP * (count - 1)) / count;
  const top = 1 - place * (height + GAP);
  return [Math.max(top - height, 0), top];
}

const yAxis = (place: number): "y" | "y2" => (place === 0 ? "y" : "y2");

function traces({ lines, unit }: ChangePanel, place: number, color: string, palette: Palette): Data[] {
  const extremes = lines.flatMap(({ run, extreme }) => (extreme ? [{ run, ...extreme }] : []));
  return [
    ...lines.map(({ run, at, values }): Data => ({
      type: "scatter",
      mode: "lines",
      x: at,
      y: values,
      yaxis: yAxis(place),
      connectgaps: false,
      line: { color, width: 1.4 },
      opacity: 0.85,
      customdata: at.map(() => runAddress(run)),
      hovertemplate: `run ${run}<br>%{x:,} s: %{y:,} ${unit}<extra></extra>`,
    })),
    {
      type: "scatter",
      mode: "markers",
      x: extremes.map(({ at }) => at),
      y: extremes.map(({ value }) => value),
      yaxis: yAxis(place),
      text: extremes.map(({ text }) => text),
      customdata: extremes.map(({ run }) => runAddress(run)),
      hovertemplate: "%{text}<extra></extra>",
      marker: { color: palette.surface, size: 7, line: { color, width: 1.6 } },
      cliponaxis: false,
    },
  ];
}

/** The statements as a shade (an instant one as a line), and where the first starts. */
function shapes(panel: ChangePanel, [y0, y1]: [number, number], palette: Palette): Partial<Shape>[] {
  const place = { xref: "x", yref: "paper", y0, y1, layer: "below" } as const;
  const spans = panel.lines.flatMap(({ statements }) => statements);
  return [
    ...spans.map(([x0, x1]): Partial<Shape> => ({
      ...{ type: "rect", ...place, x0, x1, fillcolor: palette.shade },
      line: { color: palette.shade, width: 1 },
    })),
    { type: "line", ...place, x0: 0, x1: 0, line: { color: palette.muted, width: 1, dash: "dot" } },
  ];
}

/** Above each panel: quantity and unit at its right edge, and what starts at 0. */
function words({ name, unit }: ChangePanel, y: number, palette: Palette): Partial<Annotations>[] {
  const font = { size: 11, color: palette.muted };
  const above = { y, yref: "paper", yanchor: "bottom", showarrow: false, font } as const;
  return [
    { ...above, x: 1, xref: "paper", xanchor: "right", text: axisTitle(name, unit) },
    { ...above, x: 0, xref: "x", text: "ALTER" },
  ];
}

export function changeChart({ clock, panels, color }: ChangeChart, palette: Palette): Chart {
  const line = color === null ? palette.ink : sideColor(palette, color);
  const domains = panels.map((_, place) => domain(place, panels.length));
  const axes = panels.map(({ range }, place): [string, Partial<LayoutAxis>] => [
    place === 0 ? "yaxis" : "yaxis2",
    { range, domain: domains[place]!, fixedrange: true, nticks: 6, zeroline: false },
  ]);
  return {
    traces: panels.flatMap((panel, place) => traces(panel, place, line, palette)),
    layout: {
      ...Object.fromEntries(axes),
      xaxis: axis("Time from the statement's start", "s", {
        range: clock,
        anchor: yAxis(panels.length - 1),
        zeroline: false,
      }),
      shapes: panels.flatMap((panel, place) => shapes(panel, domains[place]!, palette)),
      annotations: panels.flatMap((panel, place) => words(panel, domains[place]![1], palette)),
      margin: { l: 8, r: 8, t: 18, b: 8 },
    },
  };
}
