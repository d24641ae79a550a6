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

export function mountActions(holder: HTMLElement, actions: ChartActions): void {
  const { csv, timeline } = actions;
  holder.replaceChildren(
    ...(timeline ? [link("Add to timeline", "On one timeline with series of other runs or metrics", timeline)] : []),
    typeof csv === "string"
      ? link("Data", "Save the values as CSV", csv, true)
      : button("Data", "Save the plotted values as CSV", () => saveText(csv(), `${actions.filename}.csv`)),
    button("PNG", "Save the chart as a PNG image", () => void saveImage(actions.plot, "png", actions.filename)),
    button("SVG", "Save the chart as an SVG image", () => void saveImage(actions.plot, "svg", actions.filename)),
    button("Link", "Copy the address of this view", (self) => {
      const address = new URL(actions.address ?? window.location.href);
      if (actions.anchor) address.hash = actions.anchor;
      void copyFrom(self, address.href);
    }),
  );
}
