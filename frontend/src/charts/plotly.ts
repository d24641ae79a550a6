// Drawing: Plotly is loaded when the first chart comes into view, never by a page without charts.
import type { Config, Data, Layout, PlotlyHTMLElement, PlotMouseEvent } from "plotly.js";
import { PREPARE } from "../page/print";
import { houseLayout, readPalette, type Palette } from "./style";

export * from "./style";

type Plotly = (typeof import("./bundle"))["default"];

let loading: Promise<Plotly> | undefined;

/** The registered Plotly bundle, fetched once. */
export function loadPlotly(): Promise<Plotly> {
  loading ??= import("./bundle").then((module) => module.default);
  return loading;
}

export interface Chart {
  traces: Data[];
  layout?: Partial<Layout>;
  config?: Partial<Config>;
}

/** A chart, or a function that makes it from the palette, so that it can be made again when light turns to dark. */
export type ChartSource = Chart | ((palette: Palette) => Chart);

const CONFIG: Partial<Config> = {
  responsive: true,
  displaylogo: false,
  displayModeBar: false,
  doubleClick: "reset",
  scrollZoom: false,
};

const drawn = new Map<HTMLElement, ChartSource>();

/** Fits charts to their place when that changes without the window: a tab or a fold that is opened, paper. */
const sizes =
  typeof ResizeObserver === "undefined"
    ? null
    : new ResizeObserver((entries) => entries.forEach(({ target }) => fit(target)));

function fit(element: Element): void {
  const { width } = (element as { _fullLayout?: { width: number } })._fullLayout ?? {};
  if (width === undefined || element.clientWidth === 0 || Math.abs(element.clientWidth - width) < 1) return;
  void loadPlotly().then((plotly) => plotly.Plots.resize(element as HTMLElement));
}

/** Draw (or redraw in place) a chart in the house style. Prefer a function of the palette where colours are named. */
export async function draw(element: HTMLElement, source: ChartSource): Promise<PlotlyHTMLElement> {
  const plotly = await loadPlotly();
  drawn.set(element, source);
  const palette = readPalette();
  const { traces, layout = {}, config = {} } = typeof source === "function" ? source(palette) : source;
  const isFirst = element.dataset["drawn"] === undefined;
  if (isFirst) {
    element.replaceChildren();
    element.dataset["drawn"] = "";
  }
  const plot = await plotly.react(element, traces, houseLayout(palette, layout), { ...CONFIG, ...config });
  if (isFirst) {
    plot.on("plotly_click", openPoint);
    sizes?.observe(element);
  }
  return plot;
}

/** A point whose `customdata` is an address opens it; with a modifier key, as a link, in another tab. */
function openPoint({ points, event }: PlotMouseEvent): void {
  const address = points[0]?.customdata;
  if (typeof address !== "string") return;
  if (event.ctrlKey || event.metaKey || event.shiftKey) window.open(address);
  else window.location.assign(address);
}

/** Run once, when the element is about to come into view or the page to be printed; elements are served in the order of
 * their place. Returns what ends the waiting. */
export function whenVisible(element: Element, start: () => void): () => void {
  const stop = (): void => {
    observer.disconnect();
    document.removeEventListener(PREPARE, begin);
  };
  const begin = (): void => {
    stop();
    start();
  };
  const observer = new IntersectionObserver(
    (entries) => {
      if (entries.some((entry) => entry.isIntersecting)) begin();
    },
    { rootMargin: "200px" },
  );
  observer.observe(element);
  document.addEventListener(PREPARE, begin);
  return stop;
}

/** A chart that leaves the page: nothing of it is kept. */
export function forget(element: HTMLElement): void {
  waiting.delete(element);
  sizes?.unobserve(element);
  if (drawn.delete(element)) void loadPlotly().then((plotly) => plotly.purge(element));
}

// Charts that did not come into view yet: on paper they do.
const waiting = new Map<HTMLElement, ChartSource>();

// One after another with a frame between, so that the first is seen before the last is drawn.
let queue: Promise<unknown> = Promise.resolve();

/** Draw when the element comes into view, or the page is printed. */
export function drawWhenVisible(element: HTMLElement, source: ChartSource): void {
  waiting.set(element, source);
  whenVisible(element, () => {
    queue = queue
      .then(() => drawNow(element, source))
      .catch(reportError)
      .then(nextFrame);
  });
}

/** Resolves when the charts in view are drawn. */
export async function drawnInView(): Promise<void> {
  // Which charts are in view is known a frame later.
  await nextFrame();
  await nextFrame();
  await queue;
}

async function drawNow(element: HTMLElement, source: ChartSource): Promise<void> {
  if (waiting.delete(element)) await draw(element, source);
}

if (typeof window !== "undefined")
  window.addEventListener("beforeprint", () => waiting.forEach((source, element) => void drawNow(element, source)));

/** The chart as a picture file: on the page's own background, at twice the resolution for PNG. */
export async function saveImage(element: HTMLElement, format: "png" | "svg", filename: string): Promise<void> {
  const plotly = await loadPlotly();
  const { width, height } = element.getBoundingClientRect();
  const background = readPalette().surface;
  await plotly.relayout(element, { paper_bgcolor: background });
  await plotly.downloadImage(element, {
    format,
    filename,
    width: Math.round(width),
    height: Math.round(height),
    ...(format === "png" ? { scale: 2 } : {}),
  });
  await plotly.relayout(element, { paper_bgcolor: "rgba(0,0,0,0)" });
}

if (typeof matchMedia === "function") {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const [element, source] of drawn) {
      if (element.isConnected) void draw(element, source);
      else drawn.delete(element);
    }
  });
}

/** After the browser has painted; soon all the same where it paints nothing, as in a tab behind others. */
export function nextFrame(): Promise<void> {
  return new Promise((done) => {
    const soon = setTimeout(done, 50);
    requestAnimationFrame(() => {
      clearTimeout(soon);
      setTimeout(done, 0);
    });
  });
}
