// The lanes of a clock in the page: every event a button with its words; arrows go from one to the next.
import type { Happening } from "../api/timeline";
import { placed, sentence, ticks, words, type Lane } from "../charts/timeline/lanes";

const ROW = 22;

export interface LanesOptions {
  /** The reader chose an event: show its part of the clock. */
  chosen: (event: Happening) => void;
  /** Escape: the whole clock again. */
  left: () => void;
}

export class Lanes {
  private lanes: Lane[] = [];
  private range: [number, number] | null = null;
  private current = "";
  private readonly pen = document.createElement("canvas").getContext("2d");

  constructor(
    private readonly holder: HTMLElement,
    private readonly options: LanesOptions,
  ) {
    new ResizeObserver(() => this.draw()).observe(holder);
    holder.addEventListener("keydown", (event) => this.key(event));
  }

  show(lanes: Lane[], range: [number, number] | null): void {
    this.lanes = lanes;
    this.range = range;
    this.draw();
  }

  private draw(): void {
    const { range, holder } = this;
    holder.hidden = !range || this.lanes.length === 0;
    if (!range || holder.hidden) return;
    holder.style.minHeight = ""; // the room that the page kept
    const focused = holder.contains(document.activeElement);
    const style = getComputedStyle(holder);
    if (this.pen) this.pen.font = `${style.fontSize} ${style.fontFamily}`;
    const width = Math.max(trackWidth(holder), 100);
    holder.replaceChildren(...this.lanes.map((lane) => this.lane(lane, range, width)), scale(range, width));
    const buttons = this.buttons();
    const active = buttons.find((button) => button.dataset["key"] === this.current) ?? buttons[0];
    if (active) active.tabIndex = 0;
    if (focused) active?.focus();
  }

  private lane(lane: Lane, range: [number, number], width: number): HTMLElement {
    const row = element("div", "lane");
    row.setAttribute("role", "group");
    row.setAttribute("aria-label", lane.name);
    const name = element("div", "lane__name");
    name.textContent = lane.name;
    const track = element("div", "lane__track");
    const found = placed(lane.events, range, width, (text) => this.pen?.measureText(text).width ?? text.length * 7);
    const rows = Math.max(0, ...found.map((each) => each.row)) + 1;
    track.style.height = `${rows * ROW}px`;
    for (const each of found) {
      const button = element("button", `happening happening--${each.event.kind.replaceAll("_", "-")}`);
      button.type = "button";
      button.tabIndex = -1;
      button.dataset["key"] = keyOf(each.event);
      button.dataset["lane"] = lane.key;
      if (each.event.ends_at === null) button.dataset["moment"] = "";
      button.title = sentence(each.event);
      button.setAttribute("aria-label", sentence(each.event));
      const from = Math.min(each.left, each.words?.left ?? each.left);
      button.style.top = `${each.row * ROW}px`;
      button.style.left = `${from}px`;
      const bar = element("span", "happening__bar");
      bar.style.left = `${each.left - from}px`;
      bar.style.width = `${each.width}px`;
      button.append(bar);
      if (each.words) {
        const text = element("span", "happening__words");
        text.textContent = words(each.event);
        text.style.marginLeft = `${each.words.left - from}px`;
        text.style.maxWidth = `${each.words.width}px`;
        button.append(text);
      }
      button.style.minWidth = `${each.left - from + each.width}px`;
      button.addEventListener("click", () => this.options.chosen(each.event));
      button.addEventListener("focus", () => this.makeCurrent(button));
      track.append(button);
    }
    row.append(name, track);
    return row;
  }

  private buttons(): HTMLButtonElement[] {
    return [...this.holder.querySelectorAll<HTMLButtonElement>(".happening")];
  }

  private makeCurrent(button: HTMLButtonElement): void {
    for (const each of this.buttons()) each.tabIndex = each === button ? 0 : -1;
    this.current = button.dataset["key"] ?? "";
  }

  private key(event: KeyboardEvent): void {
    const buttons = this.buttons();
    const at = buttons.findIndex((button) => button === document.activeElement);
    if (event.key === "Escape") this.options.left();
    if (at < 0) return;
    const lane = buttons[at]?.dataset["lane"];
    let next: HTMLButtonElement | undefined;
    if (event.key === "ArrowRight") next = buttons[at + 1];
    else if (event.key === "ArrowLeft") next = buttons[at - 1];
    else if (event.key === "ArrowDown") next = buttons.slice(at).find((button) => button.dataset["lane"] !== lane);
    else if (event.key === "ArrowUp") next = buttons.slice(0, at).findLast((button) => button.dataset["lane"] !== lane);
    else if (event.key === "Home") next = buttons[0];
    else if (event.key === "End") next = buttons.at(-1);
    else return;
    event.preventDefault();
    next?.focus();
  }
}

export function keyOf(event: Happening): string {
  return `${event.kind} ${event.starts_at} ${event.node} ${event.label}`;
}

function element<K extends keyof HTMLElementTagNameMap>(name: K, className: string): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  made.className = className;
  return made;
}

/** Names stand beside their lanes, or above them on a small screen. */
function trackWidth(holder: HTMLElement): number {
  const style = getComputedStyle(holder);
  const sizes = ["--lane-name", "padding-left", "padding-right"].map(
    (name) => parseFloat(style.getPropertyValue(name)) || 0,
  );
  return sizes.reduce((left, size) => left - size, holder.clientWidth);
}

function scale(range: [number, number], width: number): HTMLElement {
  const row = element("div", "lane lane--scale");
  row.setAttribute("aria-hidden", "true");
  const track = element("div", "lane__track");
  for (const tick of ticks(range, width / 90)) {
    const mark = element("span", "lane__tick");
    mark.textContent = `${tick.toLocaleString("en")} s`;
    mark.style.left = `${((tick - range[0]) / (range[1] - range[0])) * width}px`;
    track.append(mark);
  }
  row.append(element("div", "lane__name"), track);
  return row;
}
