// The seconds of all repetitions of all sides on one clock, as pure functions of the series that were loaded.
import type { Data, Layout } from "plotly.js";
import type { Series, SeriesAnswer } from "../../api/series";
import type { ChartMetric, ChartSide, SecondsCharts, SecondsRun } from "../../api/types.gen";
import type { Cell } from "../../charts/csv";
import type { Chart } from "../../charts/plotly";
import { spanWords } from "../../charts/timeline/crosshair";
import { axis, axisTitle, sideColor, sideDash, type Palette } from "../../charts/style";

/** A run with what the server said of it. */
export interface LoadedRun extends SecondsRun {
  answer: SeriesAnswer;
}

/** A chart of one metric: of all sides, or of one. */
export interface Panel {
  id: string;
  title: string;
  metric: ChartMetric;
  sides: ChartSide[];
}

/** Metric by metric; apart: side by side in the order of the sides. */
export function panels(data: SecondsCharts): Panel[] {
  return data.metrics.flatMap((metric) => {
    const title =
      metric.kind === "latency" ? `Latency per second, ${metric.key.split(".").pop()}` : `${metric.label} per second`;
    if (!data.series.apart) return [{ id: `seconds-${metric.kind}`, title, metric, sides: data.sides }];
    return data.sides.map((side) => ({
      id: `seconds-${metric.kind}-${side.position}`,
      title: `${title}: ${side.name}`,
      metric,
      sides: [side],
    }));
  });
}

function seriesOf(loaded: LoadedRun, metric: ChartMetric): Series | undefined {
  return loaded.answer.series.find((series) => series.metric === metric.key);
}

/** Ends shared by all panels of a metric, so that they can be compared: first and last second, highest value. */
export function sharedEnds(runs: LoadedRun[], metric: ChartMetric): [number, number, number] {
  let [first, last, value] = [0, 0, 0];
  for (const run of runs) {
    const series = seriesOf(run, metric);
    first = Math.min(first, series?.at[0] ?? 0);
    last = Math.max(last, series?.at.at(-1) ?? 0);
    for (const seen of series?.values ?? []) value = Math.max(value, seen ?? 0);
  }
  return [first, last || 1, value * 1.05 || 1];
}

/** Where no run measured any more or not yet, shaded and named; null: no run's measured phase is known. */
function phases(
  runs: LoadedRun[],
  [first, last]: [number, number],
  palette: Palette,
): Pick<Layout, "shapes" | "annotations"> {
  const known = runs.map((run) => run.measured).filter((measured): measured is [number, number] => measured !== null);
  if (known.length === 0) return { shapes: [], annotations: [] };
  const from = Math.min(...known.map((measured) => measured[0]));
  const to = Math.max(...known.map((measured) => measured[1]));
  const bands = [
    { x0: first, x1: from, text: "warm-up", at: first, xanchor: "left" as const },
    { x0: to, x1: last, text: "after", at: last, xanchor: "right" as const },
  ].filter((band) => band.x1 - band.x0 > 0.5);
  return {
    shapes: bands.map(({ x0, x1 }) => ({
      type: "rect",
      xref: "x",
      yref: "paper",
      x0,
      x1,
      y0: 0,
      y1: 1,
      layer: "below",
      fillcolor: palette.shade,
      line: { width: 0 },
    })),
    annotations: bands.map(({ text, at, xanchor }) => ({
      x: at,
      y: 1,
      xref: "x",
      yref: "paper",
      xanchor,
      yanchor: "top",
      text,
      showarrow: false,
      font: { size: 11, color: palette.muted },
    })),
  };
}

/** Marks at the upper edge, in the colour of their side; the words of each on hover. */
function eventTraces(runs: LoadedRun[], panel: Panel, palette: Palette): Data[] {
  return panel.sides.flatMap((side): Data[] => {
    const marked = runs
      .filter((run) => run.side === side.position)
      .flatMap((run) => run.events.map((event) => ({ run, event })));
    if (marked.length === 0) return [];
    return [
      {
        type: "scatter",
        mode: "markers",
        name: side.name,
        legendgroup: side.slug,
        showlegend: false,
        x: marked.map(({ event }) => event.starts_at),
        y: marked.map(() => 1),
        yaxis: "y2",
        marker: { symbol: "triangle-down", size: 9, color: sideColor(palette, side.tone) },
        text: marked.map(
          ({ run, event }) =>
            `<b>${side.name}</b>, run ${run.run}: ${event.label || event.kind}${event.node ? ` on ${event.node}` : ""}`,
        ),
        hovertemplate: "%{text}<br>%{x:,.1f} s<extra></extra>",
        cliponaxis: false,
      } as Data,
    ];
  });
}

/** The values of every side at a second: lowest to highest of its runs. */
export function secondsWords(runs: LoadedRun[], panel: Panel, second: number): string {
  const spans = panel.sides.map((side) => {
    const own = runs.filter((run) => run.side === side.position).map((run) => seriesOf(run, panel.metric));
    return spanWords(
      side.name,
      own.filter((series) => series !== undefined),
      second,
    );
  });
  return `${spans.filter(Boolean).join(", ") || "not observed"} ${panel.metric.unit}`;
}

/** `zoom`: what is shown of the clock, s; null: all. */
export function secondsChart(
  runs: LoadedRun[],
  panel: Panel,
  clock: "run" | "measured",
  zoom: [number, number] | null,
  palette: Palette,
): Chart {
  const [first, last, highest] = sharedEnds(runs, panel.metric);
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
      line: { color: sideColor(palette, side.tone), dash: sideDash(side.tone), width: 1 },
      opacity: 0.75,
      hovertemplate: `<b>${side.name}</b>, run ${run.run}, repetition ${run.repetition}<br>%{x} s: %{y:,} ${series.unit}<extra></extra>`,
    });
    named.add(side.position);
  }
  return {
    traces: [...traces, ...eventTraces(runs, panel, palette)],
    layout: {
      xaxis: axis(`Time since the start of the ${clock === "run" ? "run" : "measured phase"}`, "s", {
        range: zoom ?? [first, last],
      }),
      yaxis: axis(panel.metric.kind === "latency" ? "Latency" : panel.metric.label, panel.metric.unit, {
        range: [0, highest],
        fixedrange: true,
      }),
      yaxis2: { overlaying: "y", range: [0, 1], visible: false, fixedrange: true },
      showlegend: panel.sides.length > 1,
      ...phases(runs, [first, last], palette),
    },
    config: { doubleClick: false },
  };
}

/** Whether any line of a panel can be drawn. */
export function hasLines(runs: LoadedRun[], panel: Panel): boolean {
  return runs.some(
    (run) => panel.sides.some((side) => side.position === run.side) && seriesOf(run, panel.metric) !== undefined,
  );
}

/** A run whose series did not come, and why. */
export interface FailedRun {
  run: SecondsRun;
  words: string;
}

/** The runs of a panel that did not come. */
export function failedOf(failed: FailedRun[], panel: Panel): FailedRun[] {
  return failed.filter(({ run }) => panel.sides.some((side) => side.position === run.side));
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

export function secondsRows(
  data: SecondsCharts,
  runs: LoadedRun[],
  panel: Panel,
): { header: string[]; rows: Cell[][] } {
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
