// One second of the clock: a line at it in every chart, and the values there beside each chart's title.
import type { Series } from "../../api/series";

/** Farther from the nearest sample nothing was measured, in steps of the series: as far as a gap is long. */
const MOST_STEPS = 2.5;
const steps = new WeakMap<number[], number>();

/** The median step of a series, s; it never changes, and is asked for at each move of the pointer. */
function usualStep(at: number[]): number {
  const known = steps.get(at);
  if (known !== undefined) return known;
  const between = at
    .slice(1)
    .map((time, place) => time - (at[place] ?? time))
    .sort((one, other) => one - other);
  const found = between[Math.floor(between.length / 2)] ?? 1;
  steps.set(at, found);
  return found;
}

/** The value of the sample nearest to a second; null: not observed there. */
export function valueAt({ at, values }: Pick<Series, "at" | "values">, second: number): number | null {
  let low = 0;
  let high = at.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((at[middle] ?? 0) < second) low = middle + 1;
    else high = middle;
  }
  const before = at[low - 1];
  const isNearer = before !== undefined && second - before < Math.abs((at[low] ?? Infinity) - second);
  const place = isNearer ? low - 1 : low;
  if (Math.abs((at[place] ?? Infinity) - second) > MOST_STEPS * usualStep(at)) return null;
  return values[place] ?? null;
}

function digits(value: number | null): string {
  return value === null ? "not observed" : value.toLocaleString("en", { maximumSignificantDigits: 3 });
}

/** "db1 12.3, db2 14 %"; a single line needs no name. */
export function valueWords(series: Pick<Series, "at" | "values" | "unit">[], names: string[], second: number): string {
  const words = series.map((one, place) => {
    const text = digits(valueAt(one, second));
    return series.length > 1 ? `${names[place] ?? ""} ${text}` : text;
  });
  return `${words.join(", ")} ${series[0]?.unit ?? ""}`.trim();
}

/** "MHA 1,200–1,250": lowest and highest of several lines at a second; empty: none was observed. */
export function spanWords(name: string, series: Pick<Series, "at" | "values">[], second: number): string {
  const seen = series.map((one) => valueAt(one, second)).filter((value) => value !== null);
  if (seen.length === 0) return "";
  const [low, high] = [digits(Math.min(...seen)), digits(Math.max(...seen))];
  return `${name} ${low === high ? low : `${low}–${high}`}`;
}

/** What Plotly knows of an axis: pixels from the plot's edge, and its scale. */
interface Axis {
  _offset: number;
  _length: number;
  l2p(value: number): number;
  p2l(pixel: number): number;
}

interface Marked {
  line: HTMLElement;
  now: HTMLElement;
  words: (second: number) => string;
}

function axesOf(plot: HTMLElement): { xaxis: Axis; yaxis: Axis } | undefined {
  return (plot as unknown as { _fullLayout?: { xaxis: Axis; yaxis: Axis } })._fullLayout;
}

/** Charts of one clock: what is pointed at in one is marked in all. */
export class Crosshair {
  private readonly charts = new Map<HTMLElement, Marked>();
  private next: (() => void) | null = null;

  /** `words`: the values of a chart's lines at a second. A chart that is drawn again gets new ones. */
  set(plot: HTMLElement, words: (second: number) => string): void {
    const known = this.charts.get(plot);
    if (known) known.words = words;
    else this.mount(plot, words);
  }

  remove(plot: HTMLElement): void {
    this.charts.delete(plot);
  }

  private mount(plot: HTMLElement, words: (second: number) => string): void {
    const line = document.createElement("div");
    line.className = "chart__second";
    line.hidden = true;
    plot.append(line);
    const now = document.createElement("span");
    now.className = "chart__now";
    now.setAttribute("aria-hidden", "true");
    const caption = plot.closest("figure")?.querySelector("figcaption");
    caption?.insertBefore(now, caption.querySelector(":scope > .chart__actions, :scope > .tools"));
    this.charts.set(plot, { line, now, words });
    plot.addEventListener("pointermove", (event) => this.soon(() => this.show(secondAt(plot, event))));
    plot.addEventListener("pointerleave", () => this.soon(() => this.show(null)));
  }

  /** Once a frame, with the last place of the pointer. */
  private soon(act: () => void): void {
    const isWaiting = this.next !== null;
    this.next = act;
    if (isWaiting) return;
    requestAnimationFrame(() => {
      this.next?.();
      this.next = null;
    });
  }

  private show(second: number | null): void {
    for (const [plot, { line, now, words }] of this.charts) {
      const axes = axesOf(plot);
      const pixel = second === null || !axes ? -1 : axes.xaxis.l2p(second);
      const isSeen = axes !== undefined && pixel >= 0 && pixel <= axes.xaxis._length;
      line.hidden = !isSeen;
      now.textContent = second !== null && isSeen ? `${second.toFixed(1)} s: ${words(second)}` : "";
      if (!isSeen) continue;
      line.style.left = `${axes.xaxis._offset + pixel}px`;
      line.style.top = `${axes.yaxis._offset}px`;
      line.style.height = `${axes.yaxis._length}px`;
    }
  }
}

function secondAt(plot: HTMLElement, event: PointerEvent): number | null {
  const xaxis = axesOf(plot)?.xaxis;
  if (!xaxis) return null;
  const pixel = event.clientX - plot.getBoundingClientRect().left - xaxis._offset;
  return pixel < 0 || pixel > xaxis._length ? null : xaxis.p2l(pixel);
}
