// The load levels and the growing table, as pure functions of what the server computed.
import type { ChartSide, FitCurve, GrowthChart, LevelDot, LoadLevelCharts, RowSpan } from "../../api/types.gen";
import type { Data, Layout } from "plotly.js";
import type { Cell } from "../../charts/csv";
import type { Chart } from "../../charts/plotly";
import { axis, axisTitle, ends, sideColor, sideDash, sideSymbol, type Palette } from "../../charts/style";

const DASHES: Record<string, "dot" | "solid" | "dash"> = { p50: "dot", p95: "solid", p99: "dash" };

function toneOf(sides: ChartSide[], side: number): number {
  return sides.find((each) => each.position === side)?.tone ?? side;
}

function nameOf(sides: ChartSide[], side: number): string {
  return sides.find((each) => each.position === side)?.name ?? String(side);
}

/** A colour that lets what lies below shine through. */
export function faint(color: string, alpha: string): string {
  return /^#[0-9a-f]{6}$/i.test(color) ? color + alpha : color;
}

function threadsAxis(data: LoadLevelCharts): Partial<Layout> {
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

function dotsOf(data: LoadLevelCharts, dots: LevelDot[], unit: string, palette: Palette): Data[] {
  return data.sides.map((side): Data => {
    const own = dots.filter((dot) => dot.side === side.position);
    return {
      type: "scatter",
      mode: "markers",
      name: side.name,
      legendgroup: side.slug,
      showlegend: false,
      x: own.map((dot) => dot.threads),
      y: own.map((dot) => dot.value),
      marker: {
        color: sideColor(palette, side.tone),
        size: 6,
        symbol: own.map((dot) => `${sideSymbol(side.tone)}${dot.doubted ? "-open" : ""}`),
        opacity: 0.75,
        line: {
          color: own.map((dot) => (dot.doubted ? sideColor(palette, side.tone) : palette.surface)),
          width: 1,
        },
      },
      text: own.map((dot) => dot.text),
      hovertemplate: `<b>${side.name}</b>, %{text}<br>%{y:,} ${unit}<extra></extra>`,
    };
  });
}

/** Filled between two lines over the same places. */
function band(x: number[], low: number[], high: (number | null)[], color: string, name: string): Data[] {
  const edge = {
    type: "scatter",
    mode: "lines",
    x,
    name,
    showlegend: false,
    hoverinfo: "skip",
    line: { width: 0, color },
  } as const;
  return [
    { ...edge, y: low },
    { ...edge, y: high, fill: "tonexty", fillcolor: faint(color, "22") },
  ];
}

/** Value at a place of a curve, straight between its points. */
export function along(x: number[], y: number[], at: number): number | null {
  const after = x.findIndex((each) => each >= at);
  const [x1, y1] = [x[after], y[after]];
  if (after < 0 || x1 === undefined || y1 === undefined) return null;
  const [x0, y0] = [x[after - 1], y[after - 1]];
  if (x1 === at) return y1;
  if (x0 === undefined || y0 === undefined) return null;
  return y0 + ((y1 - y0) * (at - x0)) / (x1 - x0);
}

function fitTraces(data: LoadLevelCharts, fit: FitCurve, palette: Palette): Data[] {
  const color = sideColor(palette, toneOf(data.sides, fit.side));
  const name = nameOf(data.sides, fit.side);
  const knee = fit.knee === null ? null : along(fit.threads, fit.values, fit.knee);
  const mark: Data[] =
    knee === null
      ? []
      : [
          {
            type: "scatter",
            mode: "text+markers",
            name: `${name}, knee`,
            showlegend: false,
            x: [fit.knee],
            y: [knee],
            text: ["knee"],
            textposition: "bottom right",
            textfont: { color: palette.ink, size: 11 },
            marker: { color, size: 9, symbol: "x-thin", line: { color, width: 2 } },
            hovertemplate: `<b>${name}</b>, knee of the fitted law<br>%{x:.3g} threads<extra></extra>`,
          },
        ];
  return [
    ...band(fit.threads, fit.low, fit.high, color, `${name}, interval of the fit`),
    {
      type: "scatter",
      mode: "lines",
      name: `${name}, fit`,
      showlegend: false,
      x: fit.threads,
      y: fit.values,
      line: { color, width: 1, dash: "dot" },
      hovertemplate: `<b>${name}</b>, fitted law<br>%{x:.3g} threads: %{y:,.4s} ${data.throughput.unit}<extra></extra>`,
    },
    ...mark,
  ];
}

/** From zero to a little above what was measured and fitted; the interval of a fit may be endless, and is cut off. */
export function throughputRange({ dots, lines, fits }: LoadLevelCharts["throughput"]): [number, number] {
  const values = [...dots.map((dot) => dot.value), ...[...lines, ...fits].flatMap((line) => line.values)];
  return [0, 1.1 * Math.max(0, ...values) || 1];
}

/** Throughput over threads: runs, the value of the table, the fitted law and its knee. */
export function throughputChart(data: LoadLevelCharts, palette: Palette): Chart {
  const { unit, label } = data.throughput;
  const first = new Set<number>();
  const lines = data.throughput.lines.map((line): Data => {
    const side = data.sides.find((each) => each.position === line.side);
    const showlegend = !first.has(line.side);
    first.add(line.side);
    return {
      type: "scatter",
      mode: "lines",
      name: side?.name ?? "",
      ...(side ? { legendgroup: side.slug } : {}),
      showlegend,
      x: line.threads,
      y: line.values,
      line: { color: sideColor(palette, side?.tone ?? 0), dash: sideDash(side?.tone ?? 0), width: 2 },
      text: line.texts,
      hovertemplate: `<b>${side?.name}</b>, %{text}<br>%{y:,} ${unit}<extra>geometric mean of runs</extra>`,
    };
  });
  return {
    traces: [
      ...data.throughput.fits.flatMap((fit) => fitTraces(data, fit, palette)),
      ...lines,
      ...dotsOf(data, data.throughput.dots, unit, palette),
    ],
    layout: {
      ...threadsAxis(data),
      yaxis: axis(label, unit, { rangemode: "tozero", range: throughputRange(data.throughput) }),
      showlegend: true,
    },
  };
}

/** Percentiles of all requests over threads, the runs' own as points, the objective as a line. */
export function latencyChart(data: LoadLevelCharts, palette: Palette): Chart {
  const { lines, dots, objective } = data.latency;
  const traces = lines.map((line): Data => {
    const side = data.sides.find((each) => each.position === line.side);
    return {
      type: "scatter",
      mode: "lines",
      name: side?.name ?? "",
      ...(side ? { legendgroup: side.slug } : {}),
      // The one that is drawn solid.
      showlegend: line.percentile === "p95",
      x: line.threads,
      y: line.values,
      line: {
        color: sideColor(palette, toneOf(data.sides, line.side)),
        width: line.percentile === "p95" ? 2 : 1.5,
        dash: DASHES[line.percentile] ?? "solid",
      },
      hovertemplate: `<b>${side?.name}</b>, %{x} threads<br>${line.percentile} %{y:,} ms<extra>all requests</extra>`,
    };
  });
  const { scale, range, ticks, texts } = data.latency.axis;
  const limit: Partial<Layout> =
    objective === null
      ? {}
      : {
          shapes: [
            {
              type: "line",
              xref: "paper",
              x0: 0,
              x1: 1,
              yref: "y",
              y0: objective,
              y1: objective,
              line: { color: palette.muted, width: 1.5, dash: "dashdot" },
            },
          ],
        };
  return {
    traces: [...traces, ...dotsOf(data, dots, "ms", palette)],
    layout: {
      ...threadsAxis(data),
      yaxis: axis("Latency", "ms", { type: scale, range: ends(range, scale), tickvals: ticks, ticktext: texts }),
      showlegend: true,
      ...limit,
    },
  };
}

/** Where a stretch is drawn. */
function middle({ start, end }: RowSpan): number {
  return (start + end) / 2;
}

/** Rows per second over the rows in the table: runs as lines, slowest to fastest interval of a side as a band. */
export function growthChart(data: GrowthChart, palette: Palette): Chart {
  const bands = data.bands.flatMap((each) =>
    band(
      each.rows,
      each.slowest,
      each.fastest,
      sideColor(palette, toneOf(data.sides, each.side)),
      `${nameOf(data.sides, each.side)}, slowest to fastest`,
    ),
  );
  const first = new Set<string>();
  const lines = data.runs.map(({ side, run, stretches }): Data => {
    const { name = side, tone = 0 } = data.sides.find(({ slug }) => slug === side) ?? {};
    const showlegend = !first.has(side);
    first.add(side);
    return {
      type: "scatter",
      mode: "lines",
      name,
      legendgroup: name,
      showlegend,
      x: stretches.map(middle),
      y: stretches.map(({ rate }) => rate),
      line: { color: sideColor(palette, tone), dash: sideDash(tone), width: 1.5 },
      hovertemplate: `<b>${name}</b>, run ${run}<br>%{y:,.4s} rows/s at %{x:,.4s} rows<extra></extra>`,
    };
  });
  return {
    traces: [...bands, ...lines],
    layout: {
      xaxis: axis("Rows inserted", "", { rangemode: "tozero" }),
      yaxis: axis("Rows inserted", "rows/s", { rangemode: "tozero" }),
      showlegend: true,
      shapes: [
        {
          type: "line",
          xref: "x",
          x0: data.shared,
          x1: data.shared,
          yref: "paper",
          y0: 0,
          y1: 1,
          line: { color: palette.muted, width: 1, dash: "dash" },
        },
      ],
    },
  };
}

type Rows = { header: string[]; rows: Cell[][] };

function slugOf(data: { sides: ChartSide[] }, side: number): string | undefined {
  return data.sides.find((each) => each.position === side)?.slug;
}

/** Every run, and the fitted curve. */
export function throughputRows(data: LoadLevelCharts): Rows {
  const unit = axisTitle(data.throughput.key, data.throughput.unit);
  return {
    header: ["side", "what", "threads", "run", unit, "low", "high"],
    rows: [
      ...data.throughput.dots.map((dot) => [
        slugOf(data, dot.side),
        "run",
        dot.threads,
        dot.run,
        dot.value,
        null,
        null,
      ]),
      ...data.throughput.fits.flatMap((fit) =>
        fit.threads.map((threads, k) => [
          slugOf(data, fit.side),
          "fit",
          threads,
          null,
          fit.values[k],
          fit.low[k],
          fit.high[k],
        ]),
      ),
    ],
  };
}

export function latencyRows(data: LoadLevelCharts): Rows {
  return {
    header: ["side", "what", "threads", "run", "ms"],
    rows: [
      ...data.latency.lines.flatMap((line) =>
        line.threads.map((threads, k) => [
          slugOf(data, line.side),
          `${line.percentile} of all requests`,
          threads,
          null,
          line.values[k],
        ]),
      ),
      ...data.latency.dots.map((dot) => [slugOf(data, dot.side), data.latency.key, dot.threads, dot.run, dot.value]),
    ],
  };
}

export function growthRows(data: GrowthChart): Rows {
  return {
    header: ["side", "run", "rows inserted", "rows/s"],
    rows: data.runs.flatMap(({ side, run, stretches }) =>
      stretches.map((each) => [side, run, middle(each), each.rate]),
    ),
  };
}
