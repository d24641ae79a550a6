// Ratios of the work for each transaction, a line for each quantity: pure functions of what the server computed.
import type { Shape } from "plotly.js";
import type { WorkChart, WorkPoint } from "../../api/types.gen";
import type { Cell } from "../../charts/csv";
import type { Chart } from "../../charts/plotly";
import { axis, ends, type Palette } from "../../charts/style";
import { goesOn, ratioTraces } from "./ratio_marks";

/** Names of the quantities from top to bottom: those farthest from 1 first. */
export function order(data: WorkChart): string[] {
  const farthest = new Map<string, number>();
  for (const point of data.points)
    farthest.set(point.name, Math.max(farthest.get(point.name) ?? 0, Math.abs(Math.log(point.ratio))));
  return [...farthest].sort((one, other) => other[1] - one[1]).map(([name]) => name);
}

/** In px: a line for each quantity, and the axis. */
export function chartHeight(data: WorkChart): number {
  return 70 + order(data).length * 24;
}

/** Sides of one quantity lie a little apart. */
function lane(side: number, sides: number): number {
  return sides > 2 ? (side - sides / 2) * 0.22 : 0;
}

function hover(point: WorkPoint): string {
  return `${point.name}<br>${point.ratio_text} ${point.words}${goesOn(point.cut)}`;
}

export function workChart(data: WorkChart, palette: Palette): Chart {
  const names = order(data);
  const at = (point: WorkPoint): number =>
    names.length - names.indexOf(point.name) - lane(point.side, data.sides.length);
  const traces = data.sides.slice(1).flatMap((side) => {
    const own = data.points.filter((point) => point.side === side.position);
    const marks = own.map((point) => ({ ...point, at: at(point), text: hover(point) }));
    return ratioTraces(side, marks, palette, data.sides.length > 2);
  });
  const band: Partial<Shape> = {
    type: "rect",
    xref: "x",
    yref: "paper",
    x0: data.ratios.band[0],
    x1: data.ratios.band[1],
    y0: 0,
    y1: 1,
    layer: "below",
    fillcolor: palette.shade,
    line: { width: 0 },
  };
  return {
    traces,
    layout: {
      showlegend: data.sides.length > 2,
      xaxis: axis("Ratio to the baseline", "", {
        type: "log",
        range: ends(data.ratios.range, "log"),
        tickvals: data.ratios.ticks,
        ticktext: data.ratios.texts,
      }),
      yaxis: {
        tickvals: names.map((_, place) => names.length - place),
        ticktext: names,
        range: [0.3, names.length + 0.7],
        zeroline: false,
      },
      shapes: [band],
    },
  };
}

export function workRows(data: WorkChart): { header: string[]; rows: Cell[][] } {
  return {
    header: ["side", "quantity", `for each ${data.per}`, "ratio to the baseline", "low", "high", "verdict"],
    rows: data.points.map((point) => [
      data.sides[point.side]?.slug,
      point.metric,
      point.name,
      point.ratio,
      point.low,
      point.high,
      point.words,
    ]),
  };
}
