// The list of runs: what is ticked becomes a comparison; open filters close when the reader goes elsewhere.
import { facetWords, selection, type TickedRun } from "../../page/selection";

const form = document.querySelector<HTMLFormElement>("#run-filters");
const bar = document.querySelector<HTMLElement>("#selection");
const words = bar?.querySelector<HTMLElement>("[data-words]");
const compare = bar?.querySelector<HTMLAnchorElement>("[data-compare]");

// What was ticked stays ticked while the reader filters and pages to find the rest.
const ticked = new Map<string, TickedRun>();

function boxes(): HTMLInputElement[] {
  return [...document.querySelectorAll<HTMLInputElement>("input[name=run]")];
}

function show(): void {
  if (!bar || !words || !compare) return;
  bar.hidden = ticked.size === 0;
  const chosen = selection([...ticked.values()], bar.dataset["page"]);
  words.textContent = chosen.words;
  if (chosen.address) compare.href = chosen.address;
  else compare.removeAttribute("href");
  compare.setAttribute("aria-disabled", String(chosen.address === null));
}

function tick(box: HTMLInputElement): void {
  const { system = "", workload = "", started = "" } = box.dataset;
  if (box.checked) ticked.set(box.value, { id: box.value, system, workload, started: Number(started) });
  else ticked.delete(box.value);
}

document.addEventListener("change", (event) => {
  const box = event.target;
  if (!(box instanceof HTMLInputElement)) return;
  if (box.name === "run") tick(box);
  else if (box.matches("[data-all]")) {
    for (const each of boxes()) {
      each.checked = box.checked;
      tick(each);
    }
  } else return;
  show();
});

bar?.querySelector("[data-clear]")?.addEventListener("click", () => {
  ticked.clear();
  for (const box of boxes()) box.checked = false;
  show();
});

document.addEventListener("htmx:afterSwap", () => {
  for (const box of boxes()) box.checked = ticked.has(box.value);
});

function nameChoices(): void {
  let any = false;
  for (const details of form?.querySelectorAll<HTMLDetailsElement>("details.choices") ?? []) {
    const all = [...details.querySelectorAll<HTMLInputElement>("input")];
    const chosen = all.filter((box) => box.checked);
    const value = details.querySelector<HTMLElement>("[data-value]");
    const labels = chosen.map((box) => box.closest("label")?.textContent?.trim() ?? box.value);
    if (value) value.textContent = facetWords(labels, all.length);
    details.toggleAttribute("data-chosen", chosen.length > 0);
    any ||= chosen.length > 0;
  }
  for (const field of form?.querySelectorAll<HTMLInputElement>("input:not([type=checkbox])") ?? [])
    any ||= field.value !== "";
  const clear = form?.querySelector<HTMLElement>("[data-clear-filters]");
  if (clear) clear.hidden = !any;
}
form?.addEventListener("input", nameChoices);
nameChoices();
// The browser may have kept ticks over a reload.
for (const box of boxes()) tick(box);
show();

document.addEventListener("click", (event) => {
  for (const details of document.querySelectorAll<HTMLDetailsElement>("details.choices[open]")) {
    if (event.target instanceof Node && !details.contains(event.target)) details.open = false;
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const open = document.querySelector<HTMLDetailsElement>("details.choices[open]");
  if (!open) return;
  open.open = false;
  open.querySelector("summary")?.focus();
});
