// The part "Limits" of Compare: what limits a side is said in the answer too.
import { mount as clock } from "./clock";

export function mount(root: HTMLElement): void {
  clock(root);
  for (const line of root.querySelectorAll<HTMLElement>("[data-limits]")) {
    const headline = line.querySelector("[data-headline]")?.textContent?.trim();
    const place = document.querySelector(`[data-limit-of="${CSS.escape(line.dataset["limits"] ?? "")}"]`);
    if (!headline || !place) continue;
    place.textContent = headline.charAt(0).toUpperCase() + headline.slice(1);
    place.setAttribute("title", headline);
  }
  const mark = document.querySelector<HTMLElement>("[data-tab=limits] [data-mark]");
  if (!mark || !root.querySelector("[data-use-level=saturated], [data-use-level=error]")) return;
  mark.textContent = "●";
  mark.title = "A resource saturates";
}
