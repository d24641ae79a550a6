// Series of any runs on one clock: which, where their page is, in which chart each stands, how its line is drawn.
import type { Layout } from "plotly.js";
import type { Series } from "../../api/series";
import type { ChosenSeries } from "../../api/types.gen";
import { extent, gapShapes, lineTrace, resetTrace, widest } from "../../charts/timeline/timeline";
import type { Cell } from "../../charts/csv";
import type { Chart } from "../../charts/plotly";
import { axis, nthDash, sideColor, type Palette } from "../../charts/style";

/** Which series: `node` is a name, or "sum" or "mean" over the nodes. */
export type SeriesKey = Pick<ChosenSeries, "run" | "metric" | "node">;

export interface TimelineLine {
  chosen: ChosenSeries;
  series: Series;
}

/** One chart: the lines of one unit. */
export interface UnitPanel {
  unit: string;
  lines: TimelineLine[];
}

export const TIMELINE_PAGE = "/timeline/";

export function keyText({ run, metric, node }: SeriesKey): string {
  return `${run}:${metric}:${node}`;
}

/** The page that lays these over each other. */
export function timelineAddress(series: SeriesKey[]): string {
  const parameters = new URLSearchParams(series.map((each) => ["series", keyText(each)]));
  return `${TIMELINE_PAGE}?${parameters.toString().replaceAll("%3A", ":")}`;
}

/** A second unit has a chart of its own below: no chart has two axes. In the order of the table. */
export function byUnit(lines: TimelineLine[]): UnitPanel[] {
  const found = new Map<string, UnitPanel>();
  for (const line of lines) {
    const panel = found.get(line.series.unit) ?? { unit: line.series.unit, lines: [] };
    panel.lines.push(line);
    found.set(panel.unit, panel);
  }
  return [...found.values()];
}

/** What the lines of a chart have in common, or how many they are. */
export function quantity(panel: UnitPanel): string {
  const names = new Set(panel.lines.map(({ series }) => series.name));
  return names.size === 1 ? ([...names][0] ?? "") : `${names.size} metrics`;
}

export function timelineExtent(lines: TimelineLine[]): [number, number] | null {
  return lines.reduce<[number, number] | null>((whole, { series }) => widest(whole, extent([series])), null);
}

export function timelineChart(
  panel: UnitPanel,
  { palette, range, since }: { palette: Palette; range: [number, number] | null; since: string },
): Chart {
  const traces = panel.lines.flatMap(({ chosen, series }) => {
    const color = sideColor(palette, chosen.tone);
    return [lineTrace(series, color, chosen.label, nthDash(chosen.dash)), ...resetTrace(series, color)];
  });
  const name = quantity(panel);
  const layout: Partial<Layout> = {
    // The same of every chart, and of the lanes below: one clock is one scale.
    margin: { l: 76, r: 12, t: 8, b: 8 },
    xaxis: axis(`Time since the ${since}`, "s", range ? { range: [...range] } : {}),
    yaxis: axis(name.charAt(0).toUpperCase() + name.slice(1), panel.unit, {
      rangemode: "tozero",
      fixedrange: true,
      automargin: false,
    }),
    shapes: gapShapes(
      panel.lines.map(({ series }) => series),
      null,
      palette,
    ),
    showlegend: panel.lines.length > 1,
  };
  return { traces, layout, config: { doubleClick: false } };
}

export function timelineRows(panel: UnitPanel): { header: string[]; rows: Cell[][] } {
  return {
    header: ["series", "run", "metric", "node", "unit", "time_s", "value"],
    rows: panel.lines.flatMap(({ chosen, series }) =>
      series.at.map((time, place): Cell[] => [
        chosen.label,
        chosen.run,
        series.metric,
        series.node,
        series.unit,
        time,
        series.values[place],
      ]),
    ),
  };
}
