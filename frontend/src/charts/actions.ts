// The three actions of every chart: its data, its image, its link.
import { saveText } from "./csv";
import { saveImage } from "./plotly";

export interface ChartActions {
  /** Name of the files without their ending. */
  filename: string;
  /** The data as CSV, asked for only when the reader wants it, or the address of a file of them. */
  csv: (() => string) | string;
  /** The element that Plotly drew into. */
  plot: HTMLElement;
  /** Element id that the link leads to; none: the page's own address. */
  anchor?: string;
  /** What the link leads to; none: the address of this view. */
  address?: string;
  /** Address of the timeline with the same series; none: no such link. */
  timeline?: string;
}

function button(text: string, title: string, act: (self: HTMLButtonElement) => void): HTMLButtonElement {
  const element = document.createElement("button");
  element.type = "button";
  element.className = "button button--quiet button--small";
  element.textContent = text;
  element.title = title;
  element.addEventListener("click", () => act(element));
  return element;
}

function link(text: string, title: string, address: string, isFile = false): HTMLAnchorElement {
  const element = document.createElement("a");
  element.className = "button button--quiet button--small";
  element.href = address;
  if (isFile) element.download = "";
  element.textContent = text;
  element.title = title;
  return element;
}

/** Copy, and say so on the button for a moment. */
export async function copyFrom(element: HTMLElement, text: string): Promise<void> {
  const before = element.textContent;
  try {
    await navigator.clipboard.writeText(text);
    element.textContent = "Copied";
  } catch {
    // No clipboard without HTTPS or permission: show the text, so that it can be copied by hand.
    window.prompt("Copy this address", text);
  }
  setTimeout(() => (element.textContent = before), 1500);
}

const mounted = new WeakMap<HTMLElement, ChartActions>();

/** Mounted again, as for a chart that is drawn again, the actions keep their elements, and with them the focus. */
export function mountActions(holder: HTMLElement, actions: ChartActions): void {
  const before = mounted.get(holder);
  mounted.set(holder, actions);
  const now = (): ChartActions => mounted.get(holder) ?? actions;
  const { csv, timeline } = actions;
  if (before && typeof before.csv === typeof csv && !before.timeline === !timeline) {
    const hrefs = [...(timeline ? [timeline] : []), ...(typeof csv === "string" ? [csv] : [])];
    holder.querySelectorAll("a").forEach((element, place) => (element.href = hrefs[place] ?? element.href));
    return;
  }
  const text = (): string => {
    const { csv: found } = now();
    return typeof found === "string" ? found : found();
  };
  holder.replaceChildren(
    ...(timeline ? [link("Add to timeline", "On one timeline with series of other runs or metrics", timeline)] : []),
    typeof csv === "string"
      ? link("Data", "Save the values as CSV", csv, true)
      : button("Data", "Save the plotted values as CSV", () => saveText(text(), `${now().filename}.csv`)),
    button("PNG", "Save the chart as a PNG image", () => void saveImage(now().plot, "png", now().filename)),
    button("SVG", "Save the chart as an SVG image", () => void saveImage(now().plot, "svg", now().filename)),
    button("Link", "Copy the address of this view", (self) => {
      const { address, anchor } = now();
      const shown = new URL(address ?? window.location.href);
      if (anchor) shown.hash = anchor;
      void copyFrom(self, shown.href);
    }),
  );
}
