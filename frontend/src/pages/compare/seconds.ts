// The part "Second by second" of Compare: the series of its runs, loaded when they come into view.
import { pageData } from "../../api/client";
import { loadSeries } from "../../api/series";
import type { SecondsCharts, SecondsRun } from "../../api/types.gen";
import { mountActions } from "../../charts/actions";
import { toCsv } from "../../charts/csv";
import { draw, loadPlotly, whenVisible } from "../../charts/plotly";
import { Crosshair } from "../../charts/timeline/crosshair";
import { readView, rememberZoom } from "../../page/address";
import { isShared, NOT_SHARED, offerRetry } from "../../charts/retry";
import {
  failedOf,
  hasLines,
  missing,
  panels,
  secondsChart,
  secondsRows,
  secondsWords,
  sharedEnds,
  type FailedRun,
  type LoadedRun,
  type Panel,
} from "./seconds_chart";

// Requests at a time: a browser has six connections to a server.
const AT_ONCE = 4;

function actionsOf(figure: Element): HTMLElement {
  const holder = figure.querySelector<HTMLElement>(".chart__actions");
  if (!holder) throw new Error(`the figure ${figure.id} has no place for actions`);
  return holder;
}

function figureOf(panel: Panel): HTMLElement {
  const figure = document.createElement("figure");
  figure.className = "chart";
  figure.id = panel.id;
  const title = document.createElement("span");
  title.textContent = panel.title;
  const actions = document.createElement("span");
  actions.className = "chart__actions";
  const caption = document.createElement("figcaption");
  caption.append(title, actions);
  const plot = document.createElement("div");
  plot.className = "chart__plot";
  plot.textContent = "loading";
  plot.dataset["busy"] = "";
  const notes = document.createElement("p");
  notes.className = "small muted chart__notes";
  figure.append(caption, plot, notes);
  return figure;
}

interface Loaded {
  runs: LoadedRun[];
  failed: FailedRun[];
}

/** The series of all runs, a few at a time; a run that cannot be read is said, the others are drawn. */
async function loadAll(
  runs: SecondsRun[],
  metrics: string[],
  clock: "run" | "measured",
  progress: (done: number) => void,
): Promise<Loaded> {
  const found: (LoadedRun | undefined)[] = runs.map(() => undefined);
  const failed: FailedRun[] = [];
  let next = 0;
  let done = 0;
  const work = async (): Promise<void> => {
    for (let place = next++; place < runs.length; place = next++) {
      const run = runs[place];
      if (!run) continue;
      try {
        found[place] = { ...run, answer: await loadSeries(run.run, metrics, { align: clock }) };
      } catch (reason) {
        failed.push({ run, words: reason instanceof Error ? reason.message : String(reason) });
      }
      progress(++done);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { runs: found.filter((run): run is LoadedRun => run !== undefined), failed };
}

async function drawSeconds(data: SecondsCharts, holder: HTMLElement): Promise<void> {
  const shown = panels(data);
  const figures = new Map(shown.map((panel) => [panel, figureOf(panel)]));
  holder.replaceChildren(...figures.values());
  const plots = [...holder.querySelectorAll<HTMLElement>(".chart__plot")];
  const total = data.series.runs.length;
  const { runs, failed } = await loadAll(
    data.series.runs,
    data.metrics.map((metric) => metric.key),
    data.series.clock,
    (done) => plots.forEach((plot) => (plot.textContent = `${done} of ${total} runs loaded`)),
  );
  const crosshair = new Crosshair();
  const shownPlots = new Map<HTMLElement, Panel>();
  let { zoom } = readView(window.location.search);
  /** One clock: what is zoomed in one chart is zoomed in all, and in the address. */
  const show = async (range: [number, number] | null): Promise<void> => {
    zoom = range;
    rememberZoom(range);
    const plotly = await loadPlotly();
    for (const [plot, panel] of shownPlots) {
      const [first, last] = sharedEnds(runs, panel.metric);
      await plotly.relayout(plot, { "xaxis.range": [...(range ?? [first, last])] });
    }
  };
  for (const [panel, figure] of figures) {
    const plot = figure.querySelector<HTMLElement>(".chart__plot");
    const notes = figure.querySelector<HTMLElement>(".chart__notes");
    if (!plot || !notes) continue;
    const own = failedOf(failed, panel);
    const reasons = own.map(({ run, words }) => `Run ${run.run}: ${words}`);
    notes.textContent = [...reasons, ...missing(runs, panel)].join(" ");
    if (!hasLines(runs, panel)) {
      delete plot.dataset["busy"];
      if (own.length > 0) offerRetry(plot, "These runs could not be loaded.", () => void drawSeconds(data, holder));
      else plot.textContent = "None of these runs has samples by the second.";
      continue;
    }
    const element = await draw(plot, (palette) => secondsChart(runs, panel, data.series.clock, zoom, palette));
    delete plot.dataset["busy"];
    shownPlots.set(plot, panel);
    crosshair.set(plot, (second) => secondsWords(runs, panel, second));
    element.on("plotly_relayout", (change) => {
      const [from, to] = [change["xaxis.range[0]"], change["xaxis.range[1]"]];
      if (typeof from === "number" && typeof to === "number") void show([from, to]);
    });
    element.on("plotly_doubleclick", () => void show(null));
    mountActions(actionsOf(figure), {
      filename: `compare-${panel.id}`,
      plot,
      anchor: "seconds",
      csv: () => {
        const { header, rows } = secondsRows(data, runs, panel);
        return toCsv(header, rows);
      },
    });
  }
}

export function mount(root: HTMLElement): void {
  const holder = root.querySelector<HTMLElement>("[data-seconds]");
  if (!holder) return;
  if (isShared()) {
    holder.textContent = NOT_SHARED;
    return;
  }
  const data = pageData("seconds-data");
  whenVisible(holder, () => void drawSeconds(data, holder));
}
