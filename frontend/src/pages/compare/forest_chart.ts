// The forest plot of Compare: a row for each load, the ratio of each side to the baseline with its interval. Pure functions
// of what the server computed.
import type { Annotations, Data, Shape } from "plotly.js";
import type { ChartLevel, ChartMetric, ChartSide, CompareCharts, RatioPoint } from "../../api/types.gen";
import type { Cell } from "../../charts/csv";
import type { Chart } from "../../charts/plotly";
import { axis, ends, labelRoom, type Palette } from "../../charts/style";
import { goesOn, ratioTraces } from "./ratio_marks";

// Sides of one load stand below each other: by this share of the step between loads.
const STEP = 0.7;
// More rows than these have no room for their numbers; those of the chosen load keep them, a line each.
const NAMED_ROWS = 20;
const LINE = 13; // px
const ROOM = { wide: 168, narrow: 8 };

function levelText(data: CompareCharts, point: RatioPoint): string {
  return data.levels.find((level) => level.key === point.level)?.text ?? point.level;
}

/** Where a side's row stands. Only the place on the page: no value changes. */
export function row(level: number, place: number, sides: number): number {
  return level + (sides > 1 ? (place / (sides - 1) - 0.5) * STEP * (1 - 1 / sides) : 0);
}

function hover(data: CompareCharts, point: RatioPoint): string {
  return `${levelText(data, point)}<br>${point.ratio_text}<br>${point.words}${goesOn(point.cut)}`;
}

interface Placed {
  point: RatioPoint;
  at: number;
}

/** The loads at which a side has a ratio, and the chosen one: a row without any would only be empty. */
function compared(data: CompareCharts, metric: ChartMetric): ChartLevel[] {
  const known = new Set(
    data.points
      .filter((point) => point.metric === metric.key && point.side > 0 && point.ratio !== null)
      .map((point) => point.level),
  );
  return data.levels.filter((level) => known.has(level.key) || level.key === data.chosen);
}

function placed(
  data: CompareCharts,
  levels: ChartLevel[],
  metric: ChartMetric,
  side: ChartSide,
  place: number,
): Placed[] {
  return data.points
    .filter((point) => point.metric === metric.key && point.side === side.position && point.ratio !== null)
    .map((point) => ({
      point,
      at: row(
        levels.findIndex((level) => level.key === point.level),
        place,
        data.sides.length - 1,
      ),
    }));
}

function sideTraces(data: CompareCharts, side: ChartSide, rows: Placed[], palette: Palette): Data[] {
  const marks = rows.map(({ point, at }) => ({ ...point, at, text: hover(data, point) }));
  return ratioTraces(side, marks, palette, data.sides.length > 2);
}

export function forestChart(data: CompareCharts, metric: ChartMetric, palette: Palette, narrow = false): Chart {
  const others = data.sides.slice(1);
  const levels = compared(data, metric);
  const rows = others.map((side, place) => placed(data, levels, metric, side, place));
  const [low, high] = data.ratios.band;
  const span = { yref: "paper", y0: 0, y1: 1, xref: "x", layer: "below" } as const;
  const shapes: Partial<Shape>[] = [];
  const chosen = levels.findIndex((level) => level.key === data.chosen);
  // Alone it needs no mark; beside others it lies below the band and the line at 1.
  if (chosen >= 0 && levels.length > 1)
    shapes.push({
      type: "rect",
      layer: "below",
      xref: "paper",
      x0: 0,
      x1: 1,
      yref: "y",
      y0: chosen - 0.5,
      y1: chosen + 0.5,
      fillcolor: palette.chosen,
      line: { width: 0 },
    });
  shapes.push(
    { ...span, type: "rect", x0: low, x1: high, fillcolor: palette.shade, line: { width: 0 } },
    { ...span, type: "line", x0: 1, x1: 1, line: { color: palette.muted, width: 1 } },
  );
  const allNamed = levels.length * others.length <= NAMED_ROWS;
  const annotations: Partial<Annotations>[] = (narrow ? [] : rows).flatMap((own, place) =>
    own
      .filter(({ point }) => allNamed || point.level === data.chosen)
      .map(({ point, at }) => ({
        xref: "paper",
        x: 1,
        xanchor: "left",
        yref: "y",
        y: allNamed ? at : chosen,
        yshift: allNamed ? 0 : ((others.length - 1) / 2 - place) * LINE,
        text: point.ratio_text,
        showarrow: false,
        font: { size: 11, color: point.level === data.chosen ? palette.ink : palette.muted },
      })),
  );
  return {
    traces: others.flatMap((side, place) => sideTraces(data, side, rows[place] ?? [], palette)),
    layout: {
      // Stated, since Plotly would find them by drawing twice.
      margin: {
        l: labelRoom(levels.map((level) => level.text)),
        r: narrow ? ROOM.narrow : ROOM.wide,
        t: 8,
        b: 44,
      },
      xaxis: axis("Ratio to the baseline", "", {
        type: "log",
        range: ends(data.ratios.range, "log"),
        tickvals: data.ratios.ticks,
        ticktext: data.ratios.texts,
        zeroline: false,
        automargin: false,
      }),
      yaxis: {
        automargin: false,
        range: [levels.length - 0.5, -0.5],
        tickvals: levels.map((_, place) => place),
        ticktext: levels.map((level) => level.text),
        showgrid: false,
        zeroline: false,
        fixedrange: true,
      },
      shapes,
      annotations,
      showlegend: others.length > 1,
    },
  };
}

/** Every plotted ratio of a metric. */
export function ratioRows(data: CompareCharts, metric: ChartMetric): { header: string[]; rows: Cell[][] } {
  return {
    header: ["side", "baseline", "threads", "rate, 1/s", "runs", "ratio", "low", "high", "verdict"],
    rows: data.points
      .filter((point) => point.metric === metric.key && point.side > 0)
      .map((point) => [
        data.sides[point.side]?.slug,
        data.sides[0]?.slug,
        point.threads,
        point.rate,
        point.runs.length,
        point.ratio,
        point.low,
        point.high,
        point.words,
      ]),
  };
}
