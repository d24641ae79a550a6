// The seconds of all repetitions of all sides on one clock, as pure functions of the series that were loaded.
import type { Data } from "plotly.js";
import type { Series, SeriesAnswer } from "../api/series";
import type { Chart, CompareData, CompareMetric, CompareSide, SecondsRun } from "./compare";
import type { Cell } from "./csv";
import { axis, axisTitle, sideColor, type Palette } from "./style";

/** A run with what the server said of it. */
export interface LoadedRun extends SecondsRun {
  answer: SeriesAnswer;
}

/** A chart of one metric: of all sides, or of one. */
export interface Panel {
  id: string;
  title: string;
  metric: CompareMetric;
  sides: CompareSide[];
}

/** Metric by metric; apart: side by side in the order of the sides. */
export function panels(data: CompareData): Panel[] {
  return data.metrics.flatMap((metric) => {
    const title = metric.kind === "latency" ? `Latency per second, ${metric.key.split(".").pop()}` : `${metric.label} per second`;
    if (!data.series.apart) return [{ id: `seconds-${metric.kind}`, title, metric, sides: data.sides }];
    return data.sides.map((side) => ({
      id: `seconds-${metric.kind}-${side.position}`,
      title: `${title}: ${side.name}`,
      metric,
      sides: [side],
    }));
  });
}

function seriesOf(loaded: LoadedRun, metric: CompareMetric): Series | undefined {
  return loaded.answer.series.find((series) => series.metric === metric.key);
}

/** Upper ends shared by all panels of a metric, so that heights can be compared: [seconds, value]. */
export function sharedEnds(runs: LoadedRun[], metric: CompareMetric): [number, number] {
  let [time, value] = [0, 0];
  for (const run of runs) {
    for (const at of seriesOf(run, metric)?.at ?? []) time = Math.max(time, at);
    for (const seen of seriesOf(run, metric)?.values ?? []) value = Math.max(value, seen ?? 0);
  }
  return [time || 1, value * 1.05 || 1];
}

export function secondsChart(runs: LoadedRun[], panel: Panel, palette: Palette): Chart {
  const [lastSecond, highest] = sharedEnds(runs, panel.metric);
  const named = new Set<number>();
  const traces: Data[] = [];
  for (const run of runs) {
    const side = panel.sides.find((each) => each.position === run.side);
    const series = seriesOf(run, panel.metric);
    if (!side || !series) continue;
    traces.push({
      type: "scatter",
      mode: "lines",
      name: side.name,
      legendgroup: side.slug,
      showlegend: panel.sides.length > 1 && !named.has(side.position),
      x: series.at,
      y: series.values,
      connectgaps: false,
      line: { color: sideColor(palette, side.position), width: 1 },
      opacity: 0.75,
      hovertemplate: `<b>${side.name}</b>, run ${run.run}, repetition ${run.repetition}<br>%{x} s: %{y:,} ${series.unit}<extra></extra>`,
    });
    named.add(side.position);
  }
  const measured = runs.map((run) => run.answer.measured?.[0]).filter((from): from is number => from !== undefined);
  const warm = measured.length ? Math.min(...measured) : 0;
  return {
    traces,
    layout: {
      xaxis: axis("Time since the start of the run", "s", { range: [0, lastSecond] }),
      yaxis: axis(panel.metric.kind === "latency" ? "Latency" : panel.metric.label, panel.metric.unit, { range: [0, highest] }),
      showlegend: panel.sides.length > 1,
      shapes: warm
        ? [{ type: "rect", xref: "x", yref: "paper", x0: 0, x1: warm, y0: 0, y1: 1, layer: "below", fillcolor: palette.shade, line: { width: 0 } }]
        : [],
      annotations: warm
        ? [{ x: 0, y: 1, xref: "x", yref: "paper", xanchor: "left", yanchor: "top", text: "warm-up", showarrow: false, font: { size: 11, color: palette.muted } }]
        : [],
    },
  };
}

/** Whether any line of a panel can be drawn. */
export function hasLines(runs: LoadedRun[], panel: Panel): boolean {
  return runs.some(
    (run) => panel.sides.some((side) => side.position === run.side) && seriesOf(run, panel.metric) !== undefined,
  );
}

/** Why lines are missing from a panel, a sentence per run. */
export function missing(runs: LoadedRun[], panel: Panel): string[] {
  return runs
    .filter((run) => panel.sides.some((side) => side.position === run.side) && !seriesOf(run, panel.metric))
    .map((run) => {
      const reason = run.answer.missing.find((each) => each.metric === panel.metric.key)?.reason ?? "no such series";
      return `Run ${run.run}: ${reason}.`;
    });
}

export function secondsRows(data: CompareData, runs: LoadedRun[], panel: Panel): { header: string[]; rows: Cell[][] } {
  return {
    header: ["side", "run", "repetition", "time, s", axisTitle(panel.metric.key, panel.metric.unit)],
    rows: runs
      .filter((run) => panel.sides.some((side) => side.position === run.side))
      .flatMap((run) => {
        const series = seriesOf(run, panel.metric);
        return (series?.at ?? []).map((at, place) => [
          data.sides[run.side]?.slug,
          run.run,
          run.repetition,
          at,
          series?.values[place],
        ]);
      }),
  };
}
