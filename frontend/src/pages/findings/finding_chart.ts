// A finding: every run before and after on one axis, pure functions of the server's data.
import type { Data, Shape } from "plotly.js";
import type { FindingChart, FindingSide } from "../../api/types.gen";
import type { Table } from "../../charts/mount";
import type { Chart } from "../../charts/plotly";
import { axisTitle, runAddress, sideColor, sideDash, valueAxis, type Palette } from "../../charts/style";

// Each side takes this share of its half; pixels of a character of its name.
const SHARE = 0.92;
const CHARACTER = 7;
// The sign of a broken axis, in pixels from its foot.
const BREAK = "M0,0L-5,4L5,8L-5,12L0,16";

const ends = (side: number): [number, number] => [side + (1 - SHARE) / 2, side + (1 + SHARE) / 2];

function pointTrace({ runs, tone }: FindingSide, side: number, palette: Palette): Data {
  const color = sideColor(palette, tone);
  return {
    type: "scatter",
    mode: "markers",
    x: runs.map((_, place) => ends(side)[0] + (SHARE * (place + 0.5)) / runs.length),
    y: runs.map((run) => run.value),
    text: runs.map((run) => run.text),
    customdata: runs.map((run) => runAddress(run.id)),
    hovertemplate: "%{text}<extra></extra>",
    marker: {
      color: runs.map((run) => (run.note ? palette.surface : color)),
      size: 10,
      line: { color: runs.map((run) => (run.note ? color : palette.surface)), width: 2 },
    },
    cliponaxis: false,
  };
}

function levelTrace({ level, tone }: FindingSide, side: number, palette: Palette): Data {
  return {
    type: "scatter",
    mode: "lines",
    x: level === null ? [] : ends(side),
    y: level === null ? [] : [level, level],
    line: { color: sideColor(palette, tone), dash: sideDash(tone), width: 2 },
    hoverinfo: "skip",
  };
}

function shapes({ axis, band }: FindingChart, palette: Palette): Partial<Shape>[] {
  const found: Partial<Shape>[] = [];
  if (band) {
    const place = { xref: "paper", yref: "y", x0: 0, x1: 1, y0: band[0], y1: band[1] } as const;
    found.push({ type: "rect", ...place, layer: "below", fillcolor: palette.shade, line: { width: 0 } });
  }
  if (axis.begins_at) {
    const pixels = { xsizemode: "pixel", ysizemode: "pixel", xanchor: 0, yanchor: 0 } as const;
    const line = { color: palette.muted, width: 1.4 };
    found.push({ type: "path", xref: "paper", yref: "paper", ...pixels, path: BREAK, line });
  }
  return found;
}

export function shortened(title: string, room: number): string {
  return title.length <= room ? title : `${title.slice(0, Math.max(room - 1, 1)).trimEnd()}…`;
}

/** `width`: of the plot in px; names that are too long for it are shortened. */
export function findingChart(chart: FindingChart, width: number, palette: Palette): Chart {
  const room = Math.floor(width / chart.sides.length / CHARACTER);
  return {
    traces: chart.sides.flatMap((each, side) => [levelTrace(each, side, palette), pointTrace(each, side, palette)]),
    layout: {
      xaxis: {
        range: [0, chart.sides.length],
        tickvals: chart.sides.map((_, side) => side + 0.5),
        ticktext: chart.sides.map(
          ({ title, level_text }) => shortened(title, room) + (level_text ? `<br><b>${level_text}</b>` : ""),
        ),
        tickangle: 0,
        fixedrange: true,
        showgrid: false,
        zeroline: false,
        ticks: "",
      },
      yaxis: valueAxis(chart.metric_name, chart.unit, chart.axis),
      dragmode: false,
      shapes: shapes(chart, palette),
    },
  };
}

export function findingRows({ sides, metric_name, unit }: FindingChart): Table {
  return {
    header: ["side", "run", axisTitle(metric_name, unit), "remark"],
    rows: sides.flatMap(({ title, runs }, side) =>
      runs.map(({ id, value, note }) => [`${["before", "after"][side]}: ${title}`, id, value, note]),
    ),
  };
}
