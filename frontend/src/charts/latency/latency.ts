// Latency by percentile, as HdrHistogram's plots have it: the slow tail is stretched, so that p99.9 can be read.
import type { Data } from "plotly.js";
import type { LatencyChart, TickedAxis } from "../../api/types.gen";
import type { Chart } from "../plotly";
import type { Cell } from "../csv";
import { axis, COLORS, ends, sideColor, type Palette } from "../style";

function logAxis(quantity: string, unit: string, { range, ticks, texts }: TickedAxis): ReturnType<typeof axis> {
  return axis(quantity, unit, {
    type: "log",
    range: ends(range, "log"),
    tickvals: ticks,
    ticktext: texts,
    zeroline: false,
  });
}

export function latencyChart(data: LatencyChart, palette: Palette): Chart {
  const traces = data.lines.map(
    (line): Data =>
      ({
        type: "scatter",
        mode: "lines",
        name: line.name,
        x: line.one_in,
        y: line.values,
        line: { color: sideColor(palette, line.color ?? COLORS - 1), width: 2, shape: "hv" },
        customdata: line.percent.map((percent, place) => [percent, line.slower[place]]),
        hovertemplate:
          (data.lines.length > 1 ? `<b>${line.name}</b><br>` : "") +
          "%{customdata[0]} % took at most %{y:,} ms<br>%{customdata[1]:,} were slower<extra></extra>",
      }) as Data,
  );
  return {
    traces,
    layout: {
      xaxis: logAxis("Percentile of transactions", "", data.one_in),
      yaxis: logAxis("Latency", "ms", data.values),
      showlegend: data.lines.length > 1,
    },
  };
}

/** Every step; the last point of a line only ends it. */
export function latencyRows(data: LatencyChart): { header: string[]; rows: Cell[][] } {
  return {
    header: ["line", "latency, ms", "took no longer, %", "slower, transactions"],
    rows: data.lines.flatMap((line) =>
      line.values.slice(0, -1).map((value, place) => [line.name, value, line.percent[place], line.slower[place]]),
    ),
  };
}
