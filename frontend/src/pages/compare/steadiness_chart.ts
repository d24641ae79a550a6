// How the seconds of every run are spread, as boxes: pure functions of what the server computed.
import type { Data } from "plotly.js";
import type { ChartSide, SpreadBox, SteadinessChart } from "../../api/types.gen";
import type { Cell } from "../../charts/csv";
import type { Chart } from "../../charts/plotly";
import { axis, axisTitle, sideColor, type Palette } from "../../charts/style";

/** Boxes stand in the order of the data, with room between sides; places begin at 1. */
export function places(boxes: SpreadBox[]): number[] {
  let place = 0;
  return boxes.map((box, index) => {
    place += index > 0 && boxes[index - 1]?.side !== box.side ? 2 : 1;
    return place;
  });
}

const WIDTH = { together: 0.8, run: 0.5 };

/** Boxes as lines: Plotly's own would be in a bundle twice as long to parse. */
function boxTrace(data: SteadinessChart, side: ChartSide, together: boolean, palette: Palette): Data {
  const at = places(data.boxes);
  const own = data.boxes
    .map((box, index) => ({ box: box.box, run: box.run, side: box.side, at: at[index] ?? 0 }))
    .filter((each) => each.side === side.position && (each.run === null) === together);
  const half = (together ? WIDTH.together : WIDTH.run) / 2;
  const cap = half / 2;
  const lines = own.flatMap(({ box, at }) => [
    [at - half, box.p25, at + half, box.p25, at + half, box.p75, at - half, box.p75, at - half, box.p25],
    [at - half, box.p50, at + half, box.p50],
    [at, box.p75, at, box.p95],
    [at, box.p25, at, box.p5],
    [at - cap, box.p95, at + cap, box.p95],
    [at - cap, box.p5, at + cap, box.p5],
  ]);
  const along = (axis: 0 | 1) => lines.flatMap((line) => [...line.filter((_, index) => index % 2 === axis), null]);
  return {
    type: "scatter",
    mode: "lines",
    name: side.name,
    legendgroup: side.slug,
    showlegend: together,
    x: along(0),
    y: along(1),
    line: { color: sideColor(palette, side.tone), width: together ? 2 : 1 },
    fill: together ? "toself" : "none",
    fillcolor: palette.shade,
    hoverinfo: "skip",
  };
}

/** Lowest and highest value of each box; their hover shows the whole box. */
function endsTrace(data: SteadinessChart, side: ChartSide, palette: Palette): Data {
  const at = places(data.boxes);
  const own = data.boxes
    .map((box, index) => ({ box, at: at[index] ?? 0 }))
    .filter(({ box }) => box.side === side.position);
  const text = own.map(
    ({ box }) =>
      `<b>${side.name}</b>, ${box.label}<br>lowest ${shown(box.box.least)}, 5 % ${shown(box.box.p5)}, quartile ${shown(box.box.p25)}, <b>median ${shown(box.box.p50)}</b>,` +
      `<br>quartile ${shown(box.box.p75)}, 95 % ${shown(box.box.p95)}, highest ${shown(box.box.greatest)} ${data.unit}`,
  );
  return {
    type: "scatter",
    mode: "markers",
    name: side.name,
    legendgroup: side.slug,
    showlegend: false,
    x: own.flatMap((each) => [each.at, each.at, each.at]),
    y: own.flatMap(({ box }) => [box.box.least, box.box.p50, box.box.greatest]),
    text: text.flatMap((each) => [each, each, each]),
    // The median is a line already: its marker only carries the hover.
    marker: {
      color: sideColor(palette, side.tone),
      size: own.flatMap(() => [4, 12, 4]),
      opacity: own.flatMap(() => [1, 0, 1]),
    },
    hovertemplate: "%{text}<extra></extra>",
  };
}

function shown(value: number): string {
  return value.toLocaleString("en", { maximumSignificantDigits: 4 });
}

export function steadinessChart(data: SteadinessChart, palette: Palette): Chart {
  const at = places(data.boxes);
  const highest = Math.max(...data.boxes.map((box) => box.box.greatest), 0);
  return {
    traces: data.sides.flatMap((side) => [
      boxTrace(data, side, true, palette),
      boxTrace(data, side, false, palette),
      endsTrace(data, side, palette),
    ]),
    layout: {
      showlegend: true,
      xaxis: {
        tickvals: at,
        ticktext: data.boxes.map((box) =>
          box.run === null ? `<b>${box.runs}<br>runs</b>` : `${box.run}${box.doubted ? "<br>!" : ""}`,
        ),
        tickangle: 0,
        // The last box's label would be left out where it passes the edge.
        ticklabeloverflow: "allow",
        range: [0.3, (at.at(-1) ?? 1) + 0.7],
        zeroline: false,
      },
      yaxis: axis(data.name.charAt(0).toUpperCase() + data.name.slice(1), data.unit, {
        range: [0, highest * 1.05 || 1],
      }),
    },
  };
}

export function steadinessRows(data: SteadinessChart): { header: string[]; rows: Cell[][] } {
  const unit = data.unit;
  return {
    header: [
      "side",
      "run",
      "runs",
      ...["lowest", "5 %", "25 %", "median", "75 %", "95 %", "highest"].map((each) => axisTitle(each, unit)),
    ],
    rows: data.boxes.map((box) => [
      data.sides.find((side) => side.position === box.side)?.slug,
      box.run ?? "all together",
      box.runs,
      box.box.least,
      box.box.p5,
      box.box.p25,
      box.box.p50,
      box.box.p75,
      box.box.p95,
      box.box.greatest,
    ]),
  };
}
