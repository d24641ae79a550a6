// The house style of every chart, as pure functions of the page's colours.
import type { Layout, LayoutAxis, PlotData } from "plotly.js";
import type { ValueAxis } from "../api/types.gen";

export interface Palette {
  ink: string;
  muted: string;
  line: string;
  surface: string;
  shade: string;
  /** Behind what is chosen. */
  chosen: string;
  better: string;
  worse: string;
  sides: string[];
  font: string;
}

/** Colours of platforms; the palette has TONES of each: all first ones, then all second ones. */
export const COLORS = 8;
export const TONES = 4;

/** The palette as the style sheet has it now (light or dark). */
export function readPalette(root: Element = document.documentElement): Palette {
  const style = getComputedStyle(root);
  const value = (name: string): string => style.getPropertyValue(name).trim();
  return {
    ink: value("--ink"),
    muted: value("--ink-muted"),
    line: value("--line"),
    surface: value("--surface"),
    shade: value("--shade"),
    chosen: value("--accent-soft"),
    better: value("--better"),
    worse: value("--worse"),
    sides: Array.from({ length: COLORS * TONES }, (_, side) => value(`--side-${side}`)),
    font: getComputedStyle(document.body).fontFamily,
  };
}

/** The colour of a side (or platform) by its place in the palette; places beyond the palette start over. */
export function sideColor(palette: Palette, side: number): string {
  return palette.sides[side % palette.sides.length] ?? palette.ink;
}

/** The tone of the n-th thing of a platform: a second node or series differs by lightness, never by another hue. */
export function toneOf(color: number, place: number): number {
  return (color % COLORS) + COLORS * (place % TONES);
}

/** Kinds of lines: more than tones, so that lines of one tone differ. */
export const DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"] as const;
export type Dash = (typeof DASHES)[number];

/** The n-th kind of line, over and over. */
export function nthDash(place: number): Dash {
  return DASHES[place % DASHES.length] ?? "solid";
}

/** The dash of a line in this tone: a second system of a platform differs by more than lightness. */
export function sideDash(side: number): Dash {
  return nthDash(Math.floor(side / COLORS) % TONES);
}

/** Tone and dash of the n-th line of a platform: no two of 24 are alike. */
export function nthLine(color: number, place: number): { tone: number; dash: Dash } {
  return { tone: toneOf(color, place), dash: nthDash((place % TONES) + Math.floor(place / TONES)) };
}

// Beside its colour every platform has a shape.
const SYMBOLS = [
  "circle",
  "square",
  "diamond",
  "triangle-up",
  "pentagon",
  "triangle-down",
  "hexagon",
  "cross",
] as const;

export function sideSymbol(side: number): (typeof SYMBOLS)[number] {
  return SYMBOLS[side % COLORS] ?? "circle";
}

const SIGNS = ["●", "■", "◆", "▲", "⬟", "▼", "⬢", "✚"] as const;

/** The shape of a side in its colour, before a name in the colour of text: a name in the side's own is hard to read. */
export function sideSign(palette: Palette, side: number): string {
  return `<span style="color:${sideColor(palette, side)}">${SIGNS[side % COLORS] ?? "●"}</span>`;
}

/** "Throughput, transactions/s", or the quantity alone where it has no unit. */
export function axisTitle(quantity: string, unit = ""): string {
  return [quantity, unit].filter(Boolean).join(", ");
}

/** An axis with its quantity and unit; a logarithmic one says so. */
export function axis(quantity: string, unit = "", extra: Partial<LayoutAxis> = {}): Partial<LayoutAxis> {
  const scale = extra.type === "log" ? " (log scale)" : "";
  return { ...extra, title: { text: axisTitle(quantity, unit) + scale } };
}

/** Room in px for labels beside an axis: a character of the house's 11 px is 6 px wide, rather too wide than cut. */
export function labelRoom(texts: string[]): number {
  return 16 + Math.ceil(6.1 * Math.max(0, ...texts.map((text) => text.length)));
}

/** An axis of values with the ticks of the server. It stays as it is where the reader zooms: its ticks are those of the whole. */
export function valueAxis(quantity: string, unit: string, { range, ticks, texts }: ValueAxis): Partial<LayoutAxis> {
  return axis(quantity, unit, { range, tickvals: ticks, ticktext: texts, fixedrange: true, zeroline: false });
}

/** A point with this for its `customdata` opens the page of its run. */
export function runAddress(run: number): string {
  return `/runs/${run}/`;
}

/** Ends of an axis as Plotly wants them: a logarithmic one by its exponents. */
export function ends(range: [number, number], scale: "linear" | "log"): [number, number] {
  return scale === "log" ? [Math.log10(range[0]), Math.log10(range[1])] : range;
}

/** Bars of published figures are hatched, so that nobody takes them for measured ones. */
export function publishedMarker(color: string): Partial<PlotData["marker"]> {
  return {
    color,
    pattern: { shape: "/", solidity: 0.35, size: 7, fillmode: "overlay" },
    line: { color, width: 1.5 },
  } as Partial<PlotData["marker"]>;
}

function houseAxis(palette: Palette): Partial<LayoutAxis> {
  return {
    gridcolor: palette.line,
    linecolor: palette.line,
    zerolinecolor: palette.line,
    zerolinewidth: 1,
    tickcolor: palette.line,
    ticks: "outside",
    ticklen: 4,
    automargin: true,
    // Margins fit the labels: without this, each is measured once more.
    ticklabeloverflow: "allow",
    title: { standoff: 8, font: { size: 12, color: palette.muted } },
    tickfont: { size: 11, color: palette.muted },
    // 12,000 rather than 12k: the same digits as in the tables.
    separatethousands: true,
    exponentformat: "SI",
    minexponent: 6,
  } as Partial<LayoutAxis>;
}

function mergeAxis(house: Partial<LayoutAxis>, given: Partial<LayoutAxis> | undefined): Partial<LayoutAxis> {
  return { ...house, ...given, title: { ...house.title, ...(given?.title as object) } as LayoutAxis["title"] };
}

/** The layout of a chart: what the page asks for on top of the house style. */
export function houseLayout(palette: Palette, given: Partial<Layout>): Partial<Layout> {
  const house = houseAxis(palette);
  const axes = Object.fromEntries(
    Object.entries({ xaxis: {}, yaxis: {}, ...given })
      .filter(([name]) => /^[xy]axis\d*$/.test(name))
      .map(([name, value]) => [name, mergeAxis(house, value as Partial<LayoutAxis>)]),
  );
  return {
    autosize: true,
    margin: { l: 8, r: 8, t: 8, b: 8 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    colorway: palette.sides,
    hovermode: "closest",
    dragmode: "zoom",
    showlegend: false,
    ...given,
    font: { family: palette.font, size: 12, color: palette.ink, ...given.font },
    hoverlabel: {
      bgcolor: palette.surface,
      bordercolor: palette.line,
      font: { family: palette.font, size: 12, color: palette.ink },
      ...given.hoverlabel,
    },
    legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: { size: 12 }, ...given.legend },
    ...axes,
  };
}
