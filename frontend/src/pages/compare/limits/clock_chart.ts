// Indicators of all nodes of all sides, a row each on one clock: pure functions of the series that were loaded.
import type { Data, Layout, LayoutAxis } from "plotly.js";
import type { Series } from "../../../api/series";
import type { ClockRow, ClockSeries, NodeClock } from "../../../api/types.gen";
import type { Cell } from "../../../charts/csv";
import type { Chart } from "../../../charts/plotly";
import { axis, axisTitle, DASHES, nthDash, sideColor, sideDash, type Dash, type Palette } from "../../../charts/style";
import { pointSizes } from "../../../charts/timeline/timeline";

const ROW = 104; // px
const BELOW = 60; // px, for the axis of time
// Share of a row that its title takes.
const TITLE = 0.24;
const WIDTH = 1.3; // px, of a line

/** Loaded series, by run, metric and node. */
export type Loaded = (wanted: ClockSeries) => Series | undefined;

/** One a unit of each indicator. */
export function drawnRows(data: NodeClock): (ClockRow & { key: string })[] {
  return data.indicators.filter((each) => each.drawn).flatMap(({ key, rows }) => rows.map((row) => ({ ...row, key })));
}

function everySeries(data: NodeClock): ClockSeries[] {
  return data.indicators.flatMap(({ rows }) => rows.flatMap(({ series }) => series));
}

export function chartHeight(data: NodeClock): number {
  return BELOW + ROW * drawnRows(data).length;
}

/** In the unit of the row. */
function scaled({ values }: Series, { factor }: ClockSeries): (number | null)[] {
  return factor === 1 ? values : values.map((value) => (value === null ? null : value * factor));
}

/** Nodes of a side differ by their dashes, in the order of their names; the seventh is wider. A side of one node has its
 * own dash. */
function lineOf(data: NodeClock, series: ClockSeries): { dash: Dash; width: number } {
  const own = everySeries(data).filter((each) => each.side === series.side);
  const nodes = [...new Set(own.map((each) => each.node))].sort();
  if (nodes.length === 1) return { dash: sideDash(data.sides[series.side]?.tone ?? 0), width: WIDTH };
  const place = nodes.indexOf(series.node);
  return { dash: nthDash(place), width: WIDTH * (1 + Math.floor(place / DASHES.length)) };
}

function rowAxis(place: number, rows: number, title: string): Partial<LayoutAxis> {
  const [top, bottom] = [1 - place / rows, 1 - (place + 1) / rows];
  return {
    domain: [bottom, top - TITLE / rows],
    rangemode: "tozero",
    fixedrange: true,
    nticks: 3,
    title: { text: title },
  };
}

/** One axis of time for all rows: what is zoomed or pointed at in one is so in all. */
export function clockChart(data: NodeClock, loaded: Loaded, zoom: [number, number] | null, palette: Palette): Chart {
  const rows = drawnRows(data);
  const several = data.indicators.some((each) => {
    const nodes = each.rows.flatMap(({ series }) => series.map((one) => `${one.side} ${one.node}`));
    return new Set(nodes).size > data.sides.length;
  });
  const traces: Data[] = [];
  const axes: Record<string, Partial<LayoutAxis>> = {};
  rows.forEach((row, place) => {
    const suffix = place === 0 ? "" : String(place + 1);
    for (const wanted of row.series) {
      const series = loaded(wanted);
      const side = data.sides[wanted.side];
      if (!series || !side) continue;
      const name = several ? `${side.name}, ${wanted.node}` : side.name;
      const sizes = pointSizes(series.values);
      traces.push({
        type: "scatter",
        mode: sizes ? "lines+markers" : "lines",
        ...(sizes ? { marker: { color: sideColor(palette, side.tone), size: sizes } } : {}),
        name,
        legendgroup: name,
        showlegend: !traces.some((trace) => "name" in trace && trace.name === name),
        x: series.at,
        y: scaled(series, wanted),
        yaxis: `y${suffix}`,
        connectgaps: false,
        line: { color: sideColor(palette, side.tone), ...lineOf(data, wanted) },
        hovertemplate: `${row.title} %{y:,.3~g} ${row.unit}`,
      } as Data);
    }
    axes[`yaxis${suffix}`] = rowAxis(place, rows.length, "");
  });
  const layout: Partial<Layout> & { hoversubplots: string } = {
    hovermode: "x unified",
    hoversubplots: "axis",
    showlegend: true,
    xaxis: axis("Time since the start of the measured phase", "s", {
      anchor: rows.length > 1 ? (`y${rows.length}` as LayoutAxis["anchor"]) : "y",
      showspikes: true,
      spikemode: "across",
      spikesnap: "cursor",
      spikethickness: 1,
      spikedash: "solid",
      spikecolor: palette.ink,
      ...(zoom ? { range: zoom } : {}),
    }),
    ...axes,
    annotations: rows.map((row, place) => ({
      xref: "paper",
      x: 0,
      xanchor: "left",
      yref: "paper",
      y: 1 - (place + TITLE) / rows.length,
      yanchor: "bottom",
      text: `<b>${axisTitle(row.title, row.unit)}</b>`,
      showarrow: false,
      font: { size: 12, color: palette.ink },
    })),
  };
  // A reset would lead back to the zoom that the address had.
  return { traces, layout, config: { doubleClick: "autosize" } };
}

export function clockRows(data: NodeClock, loaded: Loaded): { header: string[]; rows: Cell[][] } {
  return {
    header: ["indicator", "side", "run", "node", "time, s", "value", "unit"],
    rows: drawnRows(data).flatMap((row) =>
      row.series.flatMap((wanted) => {
        const series = loaded(wanted);
        const values = series ? scaled(series, wanted) : [];
        return (series?.at ?? []).map((at, place) => [
          row.key,
          data.sides[wanted.side]?.slug,
          wanted.run,
          wanted.node,
          at,
          values[place],
          row.unit,
        ]);
      }),
    ),
  };
}
