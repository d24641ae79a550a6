// A trend: every run in a tone of its platform, levels between changes, the changes: pure functions of the server's data.
import type { Annotations, Data, Shape } from "plotly.js";
import type { TrendChart } from "../../api/types.gen";
import type { Table } from "../../charts/mount";
import type { Chart } from "../../charts/plotly";
import { axisTitle, COLORS, runAddress, sideColor, valueAxis, type Palette } from "../../charts/style";

/** Runs of one release that follow each other: from place `start` up to `end`. */
interface Release {
  version: string;
  start: number;
  end: number;
}

// Pixels: a character of a release's name or of a change's words, a row of words.
const CHARACTER = 7;
const ROW = 15;
// Tones of the platform that releases take in turn: the lighter ones have too little contrast for points.
const TURNS = [0, 2] as const;

export function releases(chart: TrendChart): Release[] {
  const found: Release[] = [];
  chart.points.forEach(({ version }, index) => {
    const place = chart.left_out + index;
    const last = found.at(-1);
    if (last?.version === version) last.end = place + 1;
    else found.push({ version, start: place, end: place + 1 });
  });
  return found;
}

function releaseColor(chart: TrendChart, place: number, palette: Palette): string {
  return sideColor(palette, (chart.color % COLORS) + COLORS * (TURNS[place % TURNS.length] ?? 0));
}

function pointTrace(chart: TrendChart, palette: Palette): Data {
  const colors = releases(chart).flatMap(({ start, end }, place) =>
    Array.from({ length: end - start }, () => releaseColor(chart, place, palette)),
  );
  return {
    type: "scatter",
    mode: "markers",
    x: chart.points.map((_, index) => chart.left_out + index),
    y: chart.points.map((point) => point.value),
    text: chart.points.map((point) => point.text),
    customdata: chart.points.map((point) => runAddress(point.run)),
    hovertemplate: "%{text}<extra></extra>",
    marker: { color: colors, size: 8, line: { color: palette.surface, width: 1 } },
    cliponaxis: false,
  };
}

/** A line half a place beyond its runs on both sides; its words at both ends and in the middle. */
function levelTrace({ levels }: TrendChart, palette: Palette): Data {
  return {
    type: "scatter",
    mode: "lines",
    x: levels.flatMap(({ start, end }) => [start - 0.5, (start + end - 1) / 2, end - 0.5, null]),
    y: levels.flatMap(({ first, value, last }) => [first, value, last, null]),
    text: levels.flatMap(({ text }) => [text, text, text, ""]),
    hovertemplate: "%{text}<extra></extra>",
    connectgaps: false,
    line: { color: palette.ink, width: 1.5 },
  };
}

function upright(x: number, line: Shape["line"]): Partial<Shape> {
  return { type: "line", xref: "x", yref: "paper", x0: x, x1: x, y0: 0, y1: 1, layer: "below", line };
}

function changeColor(kind: string, palette: Palette): string {
  return { worse: palette.worse, better: palette.better, gone: palette.muted }[kind] ?? palette.ink;
}

function shapes(chart: TrendChart, palette: Palette): Partial<Shape>[] {
  const end = chart.left_out + chart.points.length - 0.5;
  const base = { layer: "below", line: { width: 0 } } as const;
  const found: Partial<Shape>[] = releases(chart).map((release, place) => ({
    ...{ type: "rect", xref: "x", yref: "paper", y0: -0.012, y1: 0, ...base },
    x0: release.start - 0.5,
    x1: release.end - 0.5,
    fillcolor: releaseColor(chart, place, palette),
  }));
  if (chart.band) {
    const { start, low, high } = chart.band;
    const place = { x0: start - 0.5, x1: end, y0: low, y1: high };
    found.push({ type: "rect", xref: "x", yref: "y", ...place, fillcolor: palette.shade, ...base });
  }
  for (const { place } of resets(chart))
    found.push(upright(place - 0.5, { color: palette.muted, width: 1, dash: "dot" }));
  for (const { place, kind } of chart.changes)
    found.push(
      upright(place - 0.5, {
        color: changeColor(kind, palette),
        width: 1.5,
        dash: kind === "gone" ? "dash" : "solid",
      }),
    );
  return found;
}

function resets(chart: TrendChart): { place: number; reset: string }[] {
  return chart.points
    .map(({ reset }, index) => ({ place: chart.left_out + index, reset }))
    .filter(({ reset }) => reset);
}

/** Words on that side of their line that has room, in the first row where they do not lie over others. */
function beside(words: { place: number; text: string }[], chart: TrendChart, width: number): Partial<Annotations>[] {
  const scale = width / chart.points.length;
  const rows: number[] = [];
  return words.map(({ place, text }) => {
    const long = text.length * CHARACTER;
    const line = (place - chart.left_out) * scale;
    const isLeft = line + long > width;
    const start = isLeft ? line - long : line;
    const free = rows.findIndex((end) => end <= start);
    const row = free < 0 ? rows.length : free;
    rows[row] = start + long;
    return {
      ...{ x: place - 0.5, xref: "x", yref: "paper", yanchor: "bottom", showarrow: false },
      xanchor: isLeft ? "right" : "left",
      yshift: row * ROW,
      text,
    } as const;
  });
}

/** Words at the upper (changes) and at the lower end (conditions) of their line. */
function annotations(chart: TrendChart, width: number, palette: Palette): Partial<Annotations>[] {
  const above = beside(chart.changes, chart, width).map((placed, index) => {
    const { text, kind, title } = chart.changes[index]!;
    return {
      ...placed,
      y: 1,
      text: kind === "gone" ? text : `<b>${text}</b>`,
      hovertext: title,
      font: { size: 12, color: changeColor(kind, palette) },
    };
  });
  const conditions = resets(chart).map((reset) => ({ ...reset, text: "conditions changed" }));
  const below = beside(conditions, chart, width).map((placed, index) => ({
    ...placed,
    y: 0,
    hovertext: conditions[index]!.reset,
    font: { size: 11, color: palette.muted },
  }));
  return [...above, ...below];
}

/** `width`: of the plot in px; a release's name is left out where it has no room. */
export function trendChart(chart: TrendChart, width: number, palette: Palette): Chart {
  const scale = width / chart.points.length;
  const words = annotations(chart, width, palette);
  const rows = Math.max(...words.filter(({ y }) => y === 1).map(({ yshift = 0 }) => yshift), 0);
  const named = releases(chart).filter(
    ({ version, start, end }) => version.length * CHARACTER <= (end - start) * scale,
  );
  return {
    traces: [levelTrace(chart, palette), pointTrace(chart, palette)],
    layout: {
      xaxis: {
        range: [chart.left_out - 0.5, chart.left_out + chart.points.length - 0.5],
        tickvals: named.map(({ start, end }) => (start + end - 1) / 2),
        ticktext: named.map(({ version }) => version),
        tickangle: 0,
        showgrid: false,
        zeroline: false,
        ticks: "",
        title: { text: "Release" },
      },
      yaxis: valueAxis(chart.metric_name, chart.unit, chart.axis),
      margin: { l: 8, r: 12, t: 24 + rows, b: 8 },
      shapes: shapes(chart, palette),
      annotations: words,
    },
  };
}

export function trendRows({ points, metric_name, unit }: TrendChart): Table {
  return {
    header: ["run", "release", "started at", axisTitle(metric_name, unit), "conditions changed"],
    rows: points.map((point) => [point.run, point.version, point.started_at, point.value, point.reset]),
  };
}
