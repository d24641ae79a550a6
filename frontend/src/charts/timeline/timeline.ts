// Series of one run on its clock: the response becomes traces and shapes; nothing is computed but places on the page.
import type { Annotations, Data, Layout, Shape } from "plotly.js";
import type { Series } from "../../api/series";
import type { ClockEvent } from "../../api/types.gen";
import type { Cell } from "../csv";
import { axis, nthLine, sideColor, type Palette } from "../style";
import type { Chart } from "../plotly";

export interface Clock {
  /** Place of the run's platform in the palette. */
  color: number;
  /** Kinds of events that the reader left out. */
  hidden?: string[];
  /** The measured phase, s; null while it is not known. */
  measured: [number, number] | null;
  events: ClockEvent[];
  /** The run's clock from 0 to its last sample, s; of a live run it grows. Every chart shows the same stretch. */
  whole: [number, number] | null;
  /** What the reader zoomed to, s. */
  zoom: [number, number] | null;
}

export interface ClockOptions {
  palette: Palette;
  clock: Clock;
  /** Words on the chart itself: phases and axis titles; small multiples leave them to their captions. */
  words: boolean;
  quantity: string;
}

/** First and last moment of all series, s; null when nothing was sampled. */
export function extent(series: Series[]): [number, number] | null {
  let first = Infinity;
  let last = -Infinity;
  for (const { at } of series) {
    first = Math.min(first, at[0] ?? Infinity);
    last = Math.max(last, at[at.length - 1] ?? -Infinity);
  }
  return first <= last ? [first, last] : null;
}

/** The stretch that holds both. */
export function widest(one: [number, number] | null, other: [number, number] | null): [number, number] | null {
  if (!one || !other) return one ?? other;
  return [Math.min(one[0], other[0]), Math.max(one[1], other[1])];
}

/** Totals that start over are two lines: between them nothing fell. */
export function broken({ at, values, resets, kind }: Series): { x: number[]; y: (number | null)[] } {
  if (kind !== "counter" || resets.length === 0) return { x: at, y: values };
  const x: number[] = [];
  const y: (number | null)[] = [];
  const left = [...resets];
  at.forEach((time, place) => {
    while (left[0] !== undefined && left[0] <= time) {
      x.push(left.shift() as number);
      y.push(null);
    }
    x.push(time);
    y.push(values[place] ?? null);
  });
  return { x, y };
}

/** Stretches after an observed value in which none was, up to the next one or to the end. */
export function unobserved({ at, values }: Series): [number, number][] {
  const found: [number, number][] = [];
  let last: number | null = null;
  let missed = false;
  at.forEach((time, place) => {
    if (values[place] === null) {
      missed = last !== null;
      return;
    }
    if (missed && last !== null) found.push([last, time]);
    [last, missed] = [time, false];
  });
  const end = at[at.length - 1];
  if (missed && last !== null && end !== undefined) found.push([last, end]);
  return found;
}

/** Sizes of the points of a line, px: a value without a neighbour has no line, and is a point instead. null: none is so. */
export function pointSizes(values: (number | null)[]): number[] | null {
  const isSeen = (place: number): boolean => (values[place] ?? null) !== null;
  const sizes = values.map((_, place) => (isSeen(place) && !isSeen(place - 1) && !isSeen(place + 1) ? 5 : 0));
  return sizes.some((size) => size > 0) ? sizes : null;
}

export function lineTrace(series: Series, color: string, name: string, dash = "solid"): Data {
  const { x, y } = broken(series);
  const sizes = pointSizes(y);
  return {
    type: "scatter",
    mode: sizes ? "lines+markers" : "lines",
    name,
    x,
    y,
    connectgaps: false,
    line: { color, width: 1.4, dash },
    ...(sizes ? { marker: { color, size: sizes } } : {}),
    hovertemplate: `%{y:,.6~r} ${series.unit}<br>%{x:,.1f} s<extra>${name}</extra>`,
  } as Data;
}

/** A mark where a counter fell: the server restarted or the counter was flushed. */
export function resetTrace(series: Series, color: string): Data[] {
  if (series.resets.length === 0) return [];
  const middle = ((series.at[0] ?? 0) + (series.at[series.at.length - 1] ?? 0)) / 2;
  return [
    {
      type: "scatter",
      mode: "text+markers",
      x: series.resets,
      y: series.resets.map(() => 0),
      text: series.resets.map(() => "started over"),
      // Inwards, so that the edge of the chart does not cut it.
      textposition: series.resets.map((time) => (time > middle ? "top left" : "top right")) as unknown as "top left",
      textfont: { size: 11 },
      marker: { symbol: "x-thin-open", size: 8, color },
      hovertemplate: "counter started over<br>%{x:,.1f} s<extra></extra>",
      showlegend: false,
    },
  ];
}

/** Events as small marks at the upper edge, their words on hover. */
export function eventTrace(events: ClockEvent[], palette: Palette): Data[] {
  if (events.length === 0) return [];
  const words = events.map(({ label, node, kind }) => [label || kind, node ? ` on ${node}` : ""].join(""));
  return [
    {
      type: "scatter",
      mode: "markers",
      x: events.map((event) => event.starts_at),
      y: events.map(() => 1),
      yaxis: "y2",
      text: words,
      marker: { symbol: "triangle-down", size: 9, color: palette.ink },
      hovertemplate: "%{text}<br>%{x:,.1f} s<extra></extra>",
      showlegend: false,
      cliponaxis: false,
    } as Data,
  ];
}

function band(from: number, to: number, color: string): Partial<Shape> {
  return {
    type: "rect",
    xref: "x",
    yref: "paper",
    x0: from,
    x1: to,
    y0: 0,
    y1: 1,
    line: { width: 0 },
    fillcolor: color,
    layer: "below",
  };
}

function mark(at: number, color: string): Partial<Shape> {
  return {
    type: "line",
    xref: "x",
    yref: "paper",
    x0: at,
    x1: at,
    y0: 0,
    y1: 1,
    line: { color, width: 1, dash: "dot" },
  };
}

/** Spans that overlap would hide each other and the phases: only these have a band, the others a line at their start. */
const BANDS = new Set(["outage", "ddl", "phase", "steal", "gap"]);
/** States of nodes change often: they are marked at the edge alone; phases are shaded, what a sampler missed is a gap. */
const UNLINED = new Set([
  "node_state",
  "role",
  "neighbours",
  "warm-up",
  "measured",
  "after",
  "steal",
  "gap",
  "sampler_error",
  "sampler",
]);
const UNMARKED = new Set([
  "role",
  "neighbours",
  "warm-up",
  "measured",
  "after",
  "steal",
  "gap",
  "sampler_error",
  "sampler",
]);
/** Label of a band: its shade alone would not explain it. */
const BAND_WORDS: Record<string, string> = { steal: "CPU stolen", gap: "not sampled" };

/** Events without the kinds that the reader left out. */
export function shown<T extends { kind: string }>(events: T[], hidden: string[] = []): T[] {
  return events.filter(({ kind }) => !hidden.includes(kind));
}

function named(shape: Partial<Shape>, text: string, palette: Palette, textposition = "bottom left"): Partial<Shape> {
  const label = { text, textposition, font: { size: 11, color: palette.muted } };
  return { ...shape, label } as Partial<Shape>;
}

/** Warm-up and cool-down shaded, events as thin lines, some spans as bands. */
export function clockShapes(clock: Clock, whole: [number, number] | null, palette: Palette): Partial<Shape>[] {
  const shapes: Partial<Shape>[] = [];
  if (whole && clock.measured) {
    const [from, to] = clock.measured;
    if (from > whole[0]) shapes.push(band(whole[0], from, palette.shade));
    if (to < whole[1]) shapes.push(band(to, whole[1], palette.shade));
  }
  for (const event of shown(clock.events, clock.hidden)) {
    if (event.ends_at !== null && BANDS.has(event.kind)) {
      const shape = band(event.starts_at, event.ends_at, palette.shade);
      const words = BAND_WORDS[event.kind];
      shapes.push(words ? named(shape, words, palette) : shape);
    }
    if (!UNLINED.has(event.kind)) shapes.push(mark(event.starts_at, palette.muted));
  }
  return shapes;
}

/** A gap that misses no second of the measured phase ends where that begins. A value is of the time before it. */
function clipped(span: [number, number], series: Series, measured: Clock["measured"]): [number, number] {
  const [from, to] = span;
  if (!measured || from >= measured[0] || to <= measured[0]) return span;
  const middles = series.at.map((time, place) => (time + (series.at[place - 1] ?? time)) / 2);
  const isMissed = middles.some((at, place) => series.values[place] === null && at > measured[0] && at < to);
  return isMissed ? span : [from, measured[0]];
}

/** Where a line has a gap: shaded, and called so. */
export function gapShapes(series: Series[], measured: Clock["measured"], palette: Palette): Partial<Shape>[] {
  const found = series.flatMap((one) => unobserved(one).map((span) => clipped(span, one, measured)));
  const spans = new Map(found.map((span) => [span.join(), span]));
  return [...spans.values()].map(([from, to]) =>
    named(band(from, to, palette.shade), "not observed", palette, "top left"),
  );
}

function phaseWords(clock: Clock, whole: [number, number] | null, palette: Palette): Partial<Annotations>[] {
  if (!whole || !clock.measured) return [];
  const [from, to] = clock.measured;
  const words: Partial<Annotations>[] = [];
  const word = (x: number, text: string, xanchor: "left" | "right" = "left"): Partial<Annotations> => ({
    x,
    y: 1,
    xref: "x",
    yref: "paper",
    xanchor,
    yanchor: "bottom",
    text,
    showarrow: false,
    font: { size: 11, color: palette.muted },
  });
  if (from > whole[0]) words.push(word(whole[0], "warm-up"), word(to, "measured", "right"));
  if (to < whole[1] - 1) words.push(word(whole[1], "after", "right"));
  return words;
}

/** One panel: every node's line of one metric (or of several of one unit) on the run's clock. */
export function clockChart(series: Series[], names: string[], options: ClockOptions): Chart {
  const { palette, clock, words, quantity } = options;
  const whole = widest(clock.whole, extent(series));
  const unit = series[0]?.unit ?? "";
  const layout: Partial<Layout> = {
    // Room for most labels, so that one instant stands at one place in all charts.
    margin: words ? { l: 64, r: 12, t: 18, b: 8 } : { l: 44, r: 8, t: 8, b: 4 },
    xaxis: axis(words ? "Time on the run's clock" : "", words ? "s" : "", {
      ...(clock.zoom ? { range: [...clock.zoom] } : whole ? { range: [...whole] } : {}),
      ...(words ? {} : { ticksuffix: " s", nticks: 5 }),
    }),
    yaxis: axis(words ? quantity : "", words ? unit : "", {
      rangemode: "tozero",
      fixedrange: true,
      ...(words ? {} : { nticks: 5 }),
    }),
    yaxis2: { overlaying: "y", range: [0, 1], visible: false, fixedrange: true },
    shapes: [...clockShapes(clock, whole, palette), ...gapShapes(series, clock.measured, palette)],
    annotations: words ? phaseWords(clock, whole, palette) : [],
    hovermode: "closest",
    showlegend: series.length > 1,
  };
  const traces = series.flatMap((one, place) => {
    const { tone, dash } = nthLine(clock.color, place);
    const color = sideColor(palette, tone);
    return [lineTrace(one, color, names[place] ?? one.node, dash), ...resetTrace(one, color)];
  });
  const marked = shown(clock.events, clock.hidden).filter(({ kind }) => !UNMARKED.has(kind));
  return { traces: [...traces, ...eventTrace(marked, palette)], layout, config: { doubleClick: false } };
}

/** One row a sample: the plotted points as they are, every node's clock its own. */
export function seriesRows(series: Series[]): { header: string[]; rows: Cell[][] } {
  return {
    header: ["metric", "node", "unit", "time_s", "value"],
    rows: series.flatMap(({ metric, node, unit, at, values }) =>
      at.map((time, place): Cell[] => [metric, node, unit, time, values[place]]),
    ),
  };
}
