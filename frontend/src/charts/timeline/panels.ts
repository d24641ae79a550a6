// The charts of one run: each asks for its series when it comes into view; those that ask together share a request.
import { loadSeries, MOST_METRICS, OF_EACH, type Reading, type Series, type SeriesAnswer } from "../../api/series";
import { mountActions } from "../actions";
import { Crosshair, valueWords } from "./crosshair";
import { clockChart, extent, seriesRows, widest, type Clock } from "./timeline";
import { toCsv } from "../csv";
import { draw, forget, loadPlotly, nextFrame, whenVisible } from "../plotly";
import { note, staleWords } from "../../page/failures";

interface Panel {
  figure: HTMLElement;
  plot: HTMLElement;
  metrics: string[];
  words: boolean;
  /** Of the axis; empty: its unit alone, null: the name of the series. */
  quantity: string | null;
  seen: boolean;
  /** Ends the waiting until it is seen. */
  stop: () => void;
  /** As they were drawn last, and when they were asked for. */
  series: Series[];
  renewed: Date;
  /** Says that the last question had no answer; null: it had. */
  note: HTMLElement | null;
}

export interface PanelsOptions {
  run: number;
  clock: Clock;
  /** How the counters are read; charts with words are of one node and always rates. */
  reading?: Reading;
  /** Address of the timeline with the series of a chart. */
  timeline?: (series: Series[]) => string;
  /** Called when the stretch that is shown has changed. */
  moved?: () => void;
  /** Called when the reader zooms one chart (null: back to the whole clock). */
  zoomed: (range: [number, number] | null) => void;
}

export class Panels {
  private readonly panels = new Map<HTMLElement, Panel>();
  private readonly crosshair = new Crosshair();
  private waiting: Panel[] = [];
  private painted = false;

  constructor(private readonly options: PanelsOptions) {}

  /** `figure` has a `.chart__plot`, may have `.chart__actions`, and names its metrics in data-metrics. */
  add(figure: HTMLElement): void {
    const plot = figure.querySelector<HTMLElement>(".chart__plot");
    if (!plot) throw new Error("a chart without a place to draw");
    const panel: Panel = {
      figure,
      plot,
      metrics: (figure.dataset["metrics"] ?? "").split(" ").filter(Boolean),
      words: figure.dataset["words"] !== undefined,
      quantity: figure.dataset["quantity"] ?? null,
      seen: false,
      stop: () => undefined,
      series: [],
      renewed: new Date(),
      note: null,
    };
    this.panels.set(figure, panel);
    // What is in sight when the page opens need not wait for the browser to say so at its next frame. In a closed tab
    // nothing is: it has no size there to be drawn in.
    const [box] = figure.getClientRects();
    if (!this.painted && box && box.top < window.innerHeight) {
      panel.seen = true;
      this.ask(panel, queueMicrotask);
      return;
    }
    panel.stop = whenVisible(figure, () => {
      panel.seen = true;
      this.ask(panel, (serve) => setTimeout(serve, 0));
    });
  }

  remove(figure: HTMLElement): void {
    const panel = this.panels.get(figure);
    if (panel) {
      panel.stop();
      this.crosshair.remove(panel.plot);
      forget(panel.plot);
    }
    this.panels.delete(figure);
    figure.remove();
  }

  /** Ask again for what is on the page; for a run that is still measured. */
  async refresh(): Promise<void> {
    await this.serveAll([...this.panels.values()].filter((panel) => panel.seen));
  }

  /** The events or the measured phase changed: draw again what was drawn. */
  async redraw(): Promise<void> {
    for (const panel of this.panels.values()) if (panel.series.length > 0) await this.draw(panel);
  }

  /** A longer series came: the charts drawn before it show the same stretch. */
  private async stretch(drawnNow: Panel[]): Promise<void> {
    const { whole, zoom } = this.options.clock;
    if (!whole || zoom) return;
    const plotly = await loadPlotly();
    for (const panel of this.panels.values()) {
      if (panel.plot.dataset["drawn"] === undefined || drawnNow.includes(panel)) continue;
      await plotly.relayout(panel.plot, { "xaxis.range": [...whole] });
    }
  }

  /** Every chart on the same clock: what is zoomed in one is zoomed in all. */
  async zoom(range: [number, number] | null): Promise<void> {
    this.options.clock.zoom = range;
    this.options.moved?.();
    const plotly = await loadPlotly();
    for (const { plot } of this.panels.values()) {
      if (plot.dataset["drawn"] === undefined) continue;
      const shown = range ?? this.options.clock.whole;
      if (shown) await plotly.relayout(plot, { "xaxis.range": [...shown] });
    }
  }

  /** Those that ask before `when` comes are served together. */
  private ask(panel: Panel, when: (serve: () => void) => void): void {
    this.waiting.push(panel);
    if (this.waiting.length > 1) return;
    when(() => {
      const panels = this.waiting;
      this.waiting = [];
      void this.serveAll(panels);
      // Read while the server answers: the bundle takes longer than most answers.
      void loadPlotly();
    });
  }

  /** In groups that the server answers at once, first panels first. */
  private async serveAll(panels: Panel[]): Promise<void> {
    const reading = this.options.reading ?? OF_EACH;
    await this.serveAlike(
      panels.filter(({ words }) => words),
      OF_EACH,
    );
    await this.serveAlike(
      panels.filter(({ words }) => !words),
      { ...reading },
    );
  }

  private async serveAlike(panels: Panel[], reading: Reading): Promise<void> {
    let group: Panel[] = [];
    let size = 0;
    for (const panel of panels) {
      if (size + panel.metrics.length > MOST_METRICS) {
        await this.serve(group, reading);
        group = [];
        size = 0;
      }
      group.push(panel);
      size += panel.metrics.length;
    }
    await this.serve(group, reading);
  }

  private async serve(panels: Panel[], reading: Reading): Promise<void> {
    const metrics = [...new Set(panels.flatMap((panel) => panel.metrics))];
    if (metrics.length === 0) return;
    let answer: SeriesAnswer;
    const asked = new Date();
    try {
      answer = await loadSeries(this.options.run, metrics, reading);
    } catch (reason) {
      for (const panel of panels) fail(panel, reason instanceof Error ? reason.message : String(reason));
      return;
    }
    for (const panel of panels) {
      panel.renewed = asked;
      panel.note?.remove();
      panel.note = null;
    }
    if (answer.measured) this.options.clock.measured = answer.measured;
    const before = this.options.clock.whole;
    const whole = widest(before, extent(answer.series));
    this.options.clock.whole = whole;
    for (const panel of panels) {
      // It may have been removed meanwhile.
      if (this.panels.has(panel.figure)) await this.show(panel, answer);
      if (this.painted) continue;
      // The first chart is seen before the others are drawn.
      this.painted = true;
      await nextFrame();
    }
    if (before && whole && (whole[0] < before[0] || whole[1] > before[1])) {
      this.options.moved?.();
      await this.stretch(panels);
    }
  }

  private async show(panel: Panel, answer: SeriesAnswer): Promise<void> {
    const series = answer.series.filter(({ metric }) => panel.metrics.includes(metric));
    if (series.length === 0) {
      const missing = answer.missing.find(({ metric }) => panel.metrics.includes(metric));
      if (panel.plot.dataset["drawn"] === undefined) {
        panel.plot.textContent = missing?.reason || "not observed";
      }
      return;
    }
    panel.series = series;
    await this.draw(panel);
    const actions = panel.figure.querySelector<HTMLElement>(".chart__actions");
    if (actions) this.mount(actions, panel, series);
  }

  private async draw(panel: Panel): Promise<void> {
    const { clock } = this.options;
    const { words, plot, series } = panel;
    const quantity = panel.quantity ?? series[0]?.name ?? "";
    const names = series.map((one) => (panel.metrics.length > 1 ? one.name : nodeName(one)));
    const first = plot.dataset["drawn"] === undefined;
    const unit = panel.figure.querySelector<HTMLElement>("[data-unit]");
    if (unit) {
      unit.textContent = unitWords(series[0]);
      unit.dataset["unit"] = series[0]?.unit ?? "";
      unit.dataset["over"] = series[0]?.nodes?.length ? series[0].node : "";
      unit.dataset["kind"] = series[0]?.kind ?? "";
    }
    const element = await draw(plot, (palette) => clockChart(series, names, { palette, clock, words, quantity }));
    this.crosshair.set(plot, (second) => valueWords(series, names, second));
    if (first) {
      element.on("plotly_relayout", (change) => this.relaid(change as Record<string, unknown>));
      element.on("plotly_doubleclick", () => this.options.zoomed(null));
    }
  }

  private mount(holder: HTMLElement, panel: Panel, series: Series[]): void {
    mountActions(holder, {
      plot: panel.plot,
      filename: `run-${this.options.run}-${panel.metrics.join("-")}`,
      csv: () => {
        const { header, rows } = seriesRows(series);
        return toCsv(header, rows);
      },
      ...(panel.figure.id ? { anchor: panel.figure.id } : {}),
      ...(this.options.timeline ? { timeline: this.options.timeline(series) } : {}),
    });
  }

  private relaid(change: Record<string, unknown>): void {
    const from = change["xaxis.range[0]"];
    const to = change["xaxis.range[1]"];
    if (typeof from === "number" && typeof to === "number") this.options.zoomed([from, to]);
  }
}

/** What was drawn before stays, and says how old it is; an empty panel says what happened. */
function fail(panel: Panel, reason: string): void {
  if (panel.plot.dataset["drawn"] === undefined) {
    panel.plot.textContent = reason;
    return;
  }
  const words = staleWords(panel.renewed, reason);
  panel.note ??= note(words);
  if (panel.note.textContent !== words) panel.note.textContent = words;
  if (!panel.note.isConnected) panel.plot.before(panel.note);
}

/** A node, or what was made of several. */
export function nodeName({ node, nodes }: Series): string {
  return nodes && nodes.length > 0 ? `${node} of ${nodes.join(", ")}` : node;
}

/** Unit and, where one line stands for several nodes or for totals, that it does. */
export function unitWords(series: Series | undefined): string {
  if (!series) return "";
  const over = series.nodes && series.nodes.length > 1 ? `${series.node} of ${series.nodes.length} nodes` : "";
  return [series.unit, series.kind === "counter" ? "total" : "", over].filter(Boolean).join(", ");
}
