// The Timeline page: series of any runs on one clock, a chart for each unit, what happened in each run below.
import "../../styles/timeline.css";
import { rememberZoom } from "../../page/address";
import { pageData } from "../../api/client";
import { loadTimelineSeries, type MissingInRun } from "./series";
import { loadSeriesIndex, type SeriesInfo } from "../../api/series";
import { loadTimeline, type Timeline } from "../../api/timeline";
import { mountActions } from "../../charts/actions";
import { Crosshair, valueWords } from "../../charts/timeline/crosshair";
import { widest } from "../../charts/timeline/timeline";
import { toCsv } from "../../charts/csv";
import { around, type Lane } from "../../charts/timeline/lanes";
import {
  byUnit,
  keyText,
  timelineChart,
  timelineExtent,
  timelineRows,
  quantity,
  type TimelineLine,
  type UnitPanel,
} from "./chart";
import { draw, loadPlotly } from "../../charts/plotly";
import { Lanes } from "../../timeline/lanes";
import { mountRange } from "../../timeline/range";
import { arrange } from "../../page/children";
import { combobox } from "../../page/combobox";
import { staleWords } from "../../page/failures";

type Range = [number, number];

const REFRESH_MS = 2000;
const SINCE: Record<string, string> = { run: "start of the run", measured: "start of the measured phase" };

const data = pageData("timeline-data");
const charts = document.querySelector<HTMLElement>("#charts");
const notes = document.querySelector<HTMLElement>("#notes");
const figures = new Map<string, HTMLElement>();
const crosshair = new Crosshair();
let whole: Range | null = null;
let zoom = readZoom();
/** Where t = 0 of each run is, s on its own clock. */
let zeros = new Map<number, number>();
let timelines: Timeline[] = [];
let live = data.live;
let renewed = new Date();

function readZoom(): Range | null {
  const parameters = new URLSearchParams(window.location.search);
  const [from, to] = ["from", "to"].map((name) => Number(parameters.get(name) ?? Number.NaN));
  return from !== undefined && to !== undefined && from < to ? [from, to] : null;
}

async function show(range: Range | null): Promise<void> {
  zoom = range;
  rememberZoom(range);
  moved();
  const shown = zoom ?? whole;
  if (!shown) return;
  const plotly = await loadPlotly();
  for (const figure of figures.values()) {
    const plot = figure.querySelector<HTMLElement>(".chart__plot");
    if (plot?.dataset["drawn"] !== undefined) await plotly.relayout(plot, { "xaxis.range": [...shown] });
  }
}

const holder = document.querySelector<HTMLElement>("#lanes");
const form = document.querySelector<HTMLFormElement>("#clock-range");
const lanes = holder
  ? new Lanes(holder, { chosen: (event) => void show(around(event, whole)), left: () => void show(null) })
  : null;
const range = form ? mountRange(form, { changed: (changed) => void show(changed) }) : null;

/** What distinguishes several runs; the rest is on each run's own page. */
const DRAWN_LANES = new Set(["faults", "schema", "errors", "others"]);

/** A lane for each run, on the clock that all share. */
function lanesOf(): Lane[] {
  return data.runs.flatMap(({ id, label }) => {
    const zero = zeros.get(id);
    const timeline = timelines.find(({ run }) => run === id);
    if (zero === undefined || !timeline) return [];
    const seen = timeline.happenings.filter(
      ({ lane, kind }) => DRAWN_LANES.has(lane) || ["measured", "steal", "gap"].includes(kind),
    );
    const events = seen.map((event) => ({
      ...event,
      starts_at: event.starts_at - zero,
      ends_at: event.ends_at === null ? null : event.ends_at - zero,
    }));
    return [{ key: String(id), name: label, events }];
  });
}

function moved(): void {
  lanes?.show(lanesOf(), zoom ?? whole);
  range?.(zoom ?? whole, zoom === null);
}

function figureOf(panel: UnitPanel): HTMLElement {
  const known = figures.get(panel.unit);
  if (known) return known;
  const figure = document.createElement("figure");
  figure.className = "chart";
  figure.id = `chart-${figures.size + 1}`;
  figure.innerHTML =
    '<figcaption><span></span><span class="chart__actions"></span></figcaption><div class="chart__plot">loading</div>';
  figures.set(panel.unit, figure);
  return figure;
}

async function drawPanel(panel: UnitPanel): Promise<void> {
  const figure = figureOf(panel);
  const plot = figure.querySelector<HTMLElement>(".chart__plot");
  const actions = figure.querySelector<HTMLElement>(".chart__actions");
  const title = figure.querySelector("figcaption span");
  if (!plot || !actions || !title) return;
  const name = quantity(panel);
  title.textContent = `${name.charAt(0).toUpperCase()}${name.slice(1)}${panel.unit ? `, ${panel.unit}` : ""}`;
  const first = plot.dataset["drawn"] === undefined;
  const labels = panel.lines.map(({ chosen }) => chosen.label);
  const series = panel.lines.map((line) => line.series);
  const since = SINCE[data.align] ?? `first ${data.align.replaceAll("_", " ")}`;
  const element = await draw(plot, (palette) => timelineChart(panel, { palette, range: zoom ?? whole, since }));
  crosshair.set(plot, (second) => valueWords(series, labels, second));
  if (first) {
    element.on("plotly_relayout", (change) => {
      const [from, to] = [change["xaxis.range[0]"], change["xaxis.range[1]"]];
      if (typeof from === "number" && typeof to === "number") void show([from, to]);
    });
    element.on("plotly_doubleclick", () => void show(null));
  }
  mountActions(actions, {
    plot,
    filename: `timeline-${figure.id}`,
    anchor: figure.id,
    csv: () => {
      const { header, rows } = timelineRows(panel);
      return toCsv(header, rows);
    },
  });
}

function say(missing: MissingInRun[]): void {
  if (!notes) return;
  notes.textContent = missing
    .map((each) => {
      const label = data.series.find((one) => keyText(one) === keyText(each))?.label ?? keyText(each);
      return `${label}: not drawn, ${each.reason}.`;
    })
    .join(" ");
}

async function load(): Promise<void> {
  const [answer, loaded] = await Promise.all([
    loadTimelineSeries(data.series, data),
    Promise.all(data.runs.map(({ id }) => loadTimeline(id))),
  ]);
  timelines = loaded;
  live = loaded.some((each) => each.live);
  const lines: TimelineLine[] = data.series.flatMap((chosen) => {
    const series = answer.series.find((one) => keyText(one) === keyText(chosen));
    return series ? [{ chosen, series }] : [];
  });
  zeros = new Map(lines.map(({ chosen, series }) => [chosen.run, series.zero]));
  whole = widest(whole, timelineExtent(lines));
  const panels = byUnit(lines);
  if (panels.length > 0 && charts) arrange(charts, panels.map(figureOf));
  else if (charts) charts.innerHTML = '<p class="empty">None of these series has samples to draw.</p>';
  say(answer.missing);
  for (const panel of panels) await drawPanel(panel);
  moved();
}

async function again(): Promise<void> {
  if (document.visibilityState === "visible") {
    try {
      const asked = new Date();
      await load();
      renewed = asked;
    } catch (reason) {
      const words = reason instanceof Error ? reason.message : String(reason);
      if (figures.size === 0 && charts) charts.textContent = words;
      else if (notes) notes.textContent = staleWords(renewed, words);
    }
  }
  if (live) setTimeout(() => void again(), REFRESH_MS);
}

const OVER = [
  ["sum", "sum of the nodes"],
  ["mean", "mean of the nodes"],
] as const;

interface Offered {
  metric: string;
  node: string;
  text: string;
  note: string;
}

/** Each node's series, and those over the nodes where several have it. */
function offers(index: SeriesInfo[]): Offered[] {
  const nodes = new Map<string, SeriesInfo[]>();
  for (const info of index) nodes.set(info.metric, [...(nodes.get(info.metric) ?? []), info]);
  return [...nodes.values()].flatMap((same) => {
    const [first] = same;
    if (!first) return [];
    const own = same.map((info) => ({
      metric: info.metric,
      node: info.node,
      text: `${info.metric}, ${info.node}`,
      note: [info.unit, info.constant ? "never changed" : ""].filter(Boolean).join(", "),
    }));
    const servers = same.filter(({ node }) => node !== "client");
    if (servers.length < 2) return own;
    return [
      ...own,
      ...OVER.map(([node, words]) => ({
        metric: first.metric,
        node,
        text: `${first.metric}, ${words}`,
        note: first.unit,
      })),
    ];
  });
}

function mountPicker(): void {
  const run = document.querySelector<HTMLInputElement>("#add-run");
  const field = document.querySelector<HTMLInputElement>("#picker");
  const list = document.querySelector<HTMLElement>("#picker-list");
  if (!run || !field || !list) return;
  const known = new Map<number, Promise<Offered[]>>();
  combobox(
    field,
    list,
    async (typed) => {
      const id = Number(run.value);
      if (!id) throw new Error("Write the number of a run first");
      const found = known.get(id) ?? loadSeriesIndex(id).then(offers);
      known.set(id, found);
      const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
      try {
        return (await found)
          .filter(({ text }) => words.every((word) => text.toLowerCase().includes(word)))
          .slice(0, 30)
          .map((offer) => ({ value: offer, text: offer.text, note: offer.note }));
      } catch (reason) {
        known.delete(id);
        throw reason;
      }
    },
    ({ metric, node }) => {
      const parameters = new URLSearchParams(window.location.search);
      parameters.append("series", keyText({ run: Number(run.value), metric, node }));
      window.location.search = parameters.toString().replaceAll("%3A", ":");
    },
  );
}

mountPicker();
if (data.series.length > 0) void again();
