// A metric over the load levels, a line for each side, named at its end: pure functions of what the server computed.
import type { Annotations, Data, Shape } from "plotly.js";
import type { ChartMetric, ChartSide, CompareCharts, CurveAxis, RatioPoint } from "../../api/types.gen";
import type { Cell } from "../../charts/csv";
import type { Chart } from "../../charts/plotly";
import { axis, axisTitle, ends, sideColor, sideDash, sideSign, sideSymbol, type Palette } from "../../charts/style";

// Of a name at a line's end: px beside it, with the side's sign, px of a bold character, and characters at most.
const BESIDE = 26;
const CHARACTER = 7;
const LONGEST_NAME = 16;
// px for the value below a short name.
const LEAST_ROOM = 64;
// Least distance of two names, as a share of the chart's height.
const GAP = 0.15;

/** Places moved apart until none is nearer to the next than the gap; within 0 and 1 where there is room. */
export function apart(places: number[], gap: number): number[] {
  const order = places.map((_, index) => index).sort((one, other) => (places[one] ?? 0) - (places[other] ?? 0));
  const moved = [...places];
  let floor = -Infinity;
  for (const index of order) floor = (moved[index] = Math.max(places[index] ?? 0, floor)) + gap;
  let ceiling = 1;
  for (const index of order.reverse()) ceiling = (moved[index] = Math.min(moved[index] ?? 0, ceiling)) - gap;
  return moved;
}

/** The points of each side, a line for each rate of the load. */
export function lines(data: CompareCharts, metric: ChartMetric): { side: ChartSide; points: RatioPoint[] }[] {
  return data.sides.flatMap((side) => {
    const own = data.points.filter((point) => point.metric === metric.key && point.side === side.position);
    return [...new Set(own.map((point) => point.rate))].map((rate) => ({
      side,
      points: own.filter((point) => point.rate === rate).sort((one, other) => one.threads - other.threads),
    }));
  });
}

function height(value: number, { range, scale }: CurveAxis): number {
  const [low, high] = ends(range, scale);
  return ((scale === "log" ? Math.log10(value) : value) - low) / (high - low);
}

/** Names without the words that all begin with, cut to the room there is. */
export function shortNames(names: string[]): string[] {
  if (names.length === 0) return [];
  const words = names.map((name) => name.split(" "));
  const most = Math.min(...words.map((each) => each.length - 1));
  let shared = 0;
  while (shared < most && words.every((each) => each[shared] === words[0]?.[shared])) shared += 1;
  // "flush 1" says more than "1".
  const isBare = (each: string[]): boolean => each.length - shared < 2 && !/\p{L}/u.test(each.slice(shared).join(""));
  shared -= Number(shared > 0 && words.some(isBare));
  return words
    .map((each) => each.slice(names.length > 1 ? shared : 0).join(" "))
    .map((name) => (name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1)}…` : name));
}

/** Names at the ends of the lines, and the room for the longest of them, in px. */
function names(
  found: ReturnType<typeof lines>,
  scale: CurveAxis,
  palette: Palette,
): { annotations: Partial<Annotations>[]; room: number } {
  // Loads at a fixed rate have names of their own only where there are no others.
  const open = found.filter(({ points }) => points.at(-1)?.rate === null);
  const last = (open.length > 0 ? open : found).flatMap(({ side, points }) => {
    const point = points.at(-1);
    return point ? [{ side, point }] : [];
  });
  const at = apart(
    last.map(({ point }) => height(point.value, scale)),
    GAP,
  );
  const said = shortNames(last.map(({ side }) => side.name));
  const longest = Math.max(...said.map((name) => name.length), 0);
  const annotations = last.map(({ side, point }, index): Partial<Annotations> => ({
    xref: "paper",
    x: 1,
    xanchor: "left",
    yref: "paper",
    y: at[index] ?? 0,
    yanchor: "middle",
    align: "left",
    text: `${sideSign(palette, side.tone)} <b>${said[index] ?? side.name}</b><br>${point.value_text}`,
    showarrow: false,
    font: { size: 11, color: palette.ink },
  }));
  return { annotations, room: Math.max(LEAST_ROOM, BESIDE + CHARACTER * longest) };
}

function chosenShape(data: CompareCharts, palette: Palette): Partial<Shape>[] {
  const level = data.levels.find((each) => each.key === data.chosen);
  if (!level) return [];
  const line = { color: palette.chosen, width: 14 };
  const { threads } = level;
  return [{ type: "line", layer: "below", xref: "x", x0: threads, x1: threads, yref: "paper", y0: 0, y1: 1, line }];
}

export function curveChart(data: CompareCharts, metric: ChartMetric, palette: Palette): Chart {
  const found = lines(data, metric);
  const scale = data.curves.find((each) => each.metric === metric.key);
  if (!scale) return { traces: [] };
  const { ticks, range, scale: kind } = data.threads;
  const named = names(found, scale, palette);
  const said = new Set<number>();
  const traces = found.flatMap(({ side, points }): Data[] => {
    const color = sideColor(palette, side.tone);
    const threads = points.map((point) => point.threads);
    const rate = points[0]?.rate ?? null;
    // A load with a fixed rate is no part of the curve: its points are hollow, and one side's name the rate.
    const saysRate = rate !== null && !said.has(rate);
    if (saysRate) said.add(rate);
    return [
      {
        type: "scatter",
        mode: "lines",
        name: side.name,
        hoverinfo: "skip",
        x: [...threads, ...threads.toReversed()],
        y: [...points.map((point) => point.highest), ...points.map((point) => point.lowest).reverse()],
        fill: "toself",
        fillcolor: color,
        opacity: 0.16,
        line: { width: 0, color },
      },
      {
        type: "scatter",
        mode: saysRate ? "lines+markers+text" : "lines+markers",
        name: side.name,
        x: threads,
        y: points.map((point) => point.value),
        line: { color, width: 2, dash: sideDash(side.tone) },
        marker: { color, size: 7, symbol: `${sideSymbol(side.tone)}${rate === null ? "" : "-open"}` },
        ...(saysRate
          ? { texttemplate: `${rate}/s`, textposition: "middle left", textfont: { size: 11, color: palette.muted } }
          : {}),
        text: points.map((point) => `${levelText(data, point)}, ${point.value_text} ${metric.unit}`),
        hovertemplate: `<b>${side.name}</b>, %{text}<extra></extra>`,
      } as Data,
    ];
  });
  return {
    traces,
    layout: {
      margin: { l: 8, r: named.room, t: 22, b: 8 },
      xaxis: axis("Threads", "", {
        type: kind,
        tickvals: ticks,
        ticktext: ticks.map(String),
        range: ends(range, kind),
      }),
      yaxis: {
        type: scale.scale,
        range: ends(scale.range, scale.scale),
        tickvals: scale.ticks,
        ticktext: scale.texts,
        zeroline: false,
      },
      shapes: chosenShape(data, palette),
      annotations: [
        {
          xref: "paper",
          x: 0,
          xanchor: "left",
          yref: "paper",
          y: 1,
          yanchor: "bottom",
          text: metric.unit + (scale.scale === "log" ? " (log scale)" : ""),
          showarrow: false,
          font: { size: 11, color: palette.muted },
        },
        ...named.annotations,
      ],
    },
  };
}

function levelText(data: CompareCharts, point: RatioPoint): string {
  return data.levels.find((level) => level.key === point.level)?.text ?? point.level;
}

export function curveRows(data: CompareCharts, metric: ChartMetric): { header: string[]; rows: Cell[][] } {
  return {
    header: [
      "side",
      "threads",
      "rate, 1/s",
      "runs",
      ...["value", "lowest", "highest"].map((each) => axisTitle(each, metric.unit)),
    ],
    rows: lines(data, metric).flatMap(({ side, points }) =>
      points.map((point) => [
        side.slug,
        point.threads,
        point.rate,
        point.runs.length,
        point.value,
        point.lowest,
        point.highest,
      ]),
    ),
  };
}
