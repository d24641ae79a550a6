// The part "Limits" of Compare: what limits a side is said in the answer too.
import { mount as clock } from "./clock";

/** The places in the answer that have no words yet. */
function waiting(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>("[data-limit-of][data-waiting]")];
}

function say(place: HTMLElement, words: string): void {
  place.textContent = words.charAt(0).toUpperCase() + words.slice(1);
  place.title = words;
  delete place.dataset["waiting"];
}

export function mount(root: HTMLElement): void {
  clock(root);
  for (const line of root.querySelectorAll<HTMLElement>("[data-limits]")) {
    const headline = line.querySelector("[data-headline]")?.textContent?.trim();
    const place = document.querySelector<HTMLElement>(`[data-limit-of="${CSS.escape(line.dataset["limits"] ?? "")}"]`);
    if (headline && place) say(place, headline);
  }
  const isKept = !root.querySelector("[data-state=not-kept]");
  for (const place of waiting()) say(place, isKept ? "limit not monitored" : "limit not in this snapshot");
  const mark = document.querySelector<HTMLElement>("[data-tab=limits] [data-mark]");
  if (!mark || !root.querySelector("[data-use-level=saturated], [data-use-level=error]")) return;
  mark.textContent = "●";
  mark.title = "A resource saturates";
}

/** A part that does not come is said too. Its places go on waiting: opening the tab asks again. */
export function watch(): void {
  for (const failure of ["htmx:responseError", "htmx:sendError", "htmx:timeout"])
    document.addEventListener(failure, (event) => {
      if (!(event.target instanceof Element && event.target.matches("[data-panel=limits]"))) return;
      for (const place of waiting()) place.textContent = "Limit could not be loaded";
    });
}
