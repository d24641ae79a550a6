// The Compare page's charts over load levels, as pure functions of what the server computed.
import type { Data, Layout } from "plotly.js";
import type { ChartMetric, CompareCharts, RatioPoint } from "../../api/types.gen";
import type { Cell } from "../../charts/csv";
import type { Chart } from "../../charts/plotly";
import { axis, ends, sideColor, type Palette } from "../../charts/style";

// Beside its colour every side has a shape.
const SYMBOLS = ["circle", "square", "diamond", "triangle-up"] as const;
// Sides stand beside each other in the ratio chart: by this share of the step between load levels.
const DODGE = 0.07;

function symbol(side: number): (typeof SYMBOLS)[number] {
  return SYMBOLS[side % SYMBOLS.length] ?? "circle";
}

function levelText(data: CompareCharts, point: RatioPoint): string {
  return data.levels.find((level) => level.key === point.level)?.text ?? point.level;
}

function threadsAxis(data: CompareCharts): Partial<Layout> {
  const { ticks, scale, range } = data.threads;
  return {
    xaxis: axis("Threads", "", {
      type: scale,
      tickvals: ticks,
      ticktext: ticks.map(String),
      range: ends(range, scale),
    }),
  };
}

/** Where a side stands beside its load level. Only the place on the page: no value changes. */
export function dodged(threads: number, place: number, count: number, scale: "linear" | "log", step: number): number {
  const shift = (place - (count - 1) / 2) * DODGE;
  return scale === "log" ? threads * Math.pow(step, shift) : threads + step * shift;
}

/** Distance of the two closest load levels: a difference, or a quotient on a logarithmic axis. */
export function closest(ticks: number[], scale: "linear" | "log"): number {
  const gaps = ticks.slice(1).map((tick, place) => {
    const before = ticks[place] ?? tick;
    return scale === "log" ? tick / before : tick - before;
  });
  return gaps.length ? Math.min(...gaps) : scale === "log" ? 2 : 1;
}

function hover(data: CompareCharts, point: RatioPoint): string {
  const goesOn = point.cut.some(Boolean) ? "<br>the arrow: the interval goes on beyond the chart" : "";
  return `${levelText(data, point)}<br>${point.ratio_text}<br>${point.words}${goesOn}`;
}

/** Ratio to the baseline over threads, with the interval as a bar; without an interval a hollow mark. */
export function ratioChart(data: CompareCharts, metric: ChartMetric, palette: Palette): Chart {
  const others = data.sides.slice(1);
  const { scale, ticks } = data.threads;
  const step = closest(ticks, scale);
  const traces: Data[] = others.flatMap((side, place): Data[] => {
    const points = data.points.filter(
      (point) => point.metric === metric.key && point.side === side.position && point.ratio !== null,
    );
    const at = points.map((point) => dodged(point.threads, place, others.length, scale, step));
    const color = sideColor(palette, side.tone);
    const bounded = points.map((point) => point.bar !== null);
    const cuts = points.flatMap((point, index) =>
      ([0, 1] as const).flatMap((end) =>
        point.bar && point.cut[end]
          ? [
              {
                x: at[index],
                y: point.bar[end],
                symbol: end ? "triangle-up" : "triangle-down",
                text: hover(data, point),
              },
            ]
          : [],
      ),
    );
    return [
      {
        type: "scatter",
        mode: "lines",
        name: side.name,
        legendgroup: side.slug,
        showlegend: false,
        hoverinfo: "skip",
        x: points.flatMap((_, index) => (bounded[index] ? [at[index] ?? null, at[index] ?? null, null] : [])),
        y: points.flatMap((point) => (point.bar ? [...point.bar, null] : [])),
        line: { color, width: 3 },
      },
      // An arrowhead where the interval goes on.
      {
        type: "scatter",
        mode: "markers",
        name: side.name,
        legendgroup: side.slug,
        showlegend: false,
        x: cuts.map((cut) => cut.x),
        y: cuts.map((cut) => cut.y),
        marker: { size: 11, symbol: cuts.map((cut) => cut.symbol), color },
        text: cuts.map((cut) => cut.text),
        hovertemplate: `<b>${side.name}</b>, %{text}<extra></extra>`,
      } as Data,
      {
        type: "scatter",
        mode: "markers",
        name: side.name,
        legendgroup: side.slug,
        showlegend: others.length > 1,
        x: at,
        y: points.map((point) => point.ratio),
        marker: {
          size: 10,
          symbol: bounded.map((has) => (has ? symbol(side.position) : `${symbol(side.position)}-open`)),
          color,
          line: { color: bounded.map((has) => (has ? palette.surface : color)), width: 1.5 },
        },
        text: points.map((point) => hover(data, point)),
        hovertemplate: `<b>${side.name}</b>, %{text}<extra></extra>`,
      } as Data,
    ];
  });
  const [low, high] = data.ratios.band;
  const span = { xref: "paper", x0: 0, x1: 1, yref: "y", layer: "below" } as const;
  return {
    traces,
    layout: {
      ...threadsAxis(data),
      yaxis: axis("Ratio, 95 % interval", "", {
        type: data.ratios.scale,
        range: ends(data.ratios.range, data.ratios.scale),
        tickvals: data.ratios.ticks,
        ticktext: data.ratios.texts,
        zeroline: false,
      }),
      shapes: [
        { ...span, type: "rect", y0: low, y1: high, fillcolor: palette.shade, line: { width: 0 } },
        { ...span, type: "line", y0: 1, y1: 1, line: { color: palette.muted, width: 1 } },
      ],
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
