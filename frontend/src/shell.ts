// What every page has: htmx, the search key, the navigation's toggle, times in the reader's zone, links to copy.
import "./styles/index.css";
import htmx from "htmx.org";
import { printByKey } from "./page/print";
import { copyFrom } from "./charts/actions";
import { mountFailures } from "./page/failures";
import { mountFilling } from "./page/fill";
import { mountFolds } from "./page/folds";
import { mountNarrowing } from "./page/narrow";
import { mountSorts } from "./page/sort";
import { localTime, zoneName, zoneOffset } from "./page/time";

declare global {
  interface Window {
    htmx: typeof htmx;
  }
}
window.htmx = htmx;
htmx.config.includeIndicatorStyles = false;
htmx.config.allowEval = false;
// Pages may show live numbers, and their scripts run once: going back loads the page again.
htmx.config.historyCacheSize = 0;
htmx.config.refreshOnHistoryMiss = true;

// An address without the filters that are not set is shorter to read and to share.
document.addEventListener("htmx:configRequest", (event) => {
  const { detail } = event as CustomEvent<{ verb: string; parameters: Record<string, unknown> }>;
  if (detail.verb !== "get") return;
  for (const [name, value] of Object.entries(detail.parameters)) if (value === "") delete detail.parameters[name];
});

function typing(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(input|select|textarea)$/i.test(target.tagName))
  );
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  const search = document.querySelector<HTMLInputElement>("#search");
  if (!search) return;
  event.preventDefault();
  search.focus();
  search.select();
});

printByKey();

const toggle = document.querySelector<HTMLButtonElement>("[data-nav-toggle]");
toggle?.addEventListener("click", () => {
  const open = document.body.classList.toggle("nav-open");
  toggle.setAttribute("aria-expanded", String(open));
});

document.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-copy]") : null;
  if (!button) return;
  const given = button.dataset["copy"];
  void copyFrom(button, given ? new URL(given, window.location.href).href : window.location.href);
});

// Text that stands elsewhere on the page: `data-copy-from` is its selector.
document.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-copy-from]") : null;
  const source = button && document.querySelector<HTMLElement>(button.dataset["copyFrom"] ?? "");
  if (button && source) void copyFrom(button, source instanceof HTMLTextAreaElement ? source.value : source.innerText);
});

// Listens above every form, so that no form is without its question while htmx still works on it. On the capturing
// way, so that htmx hears nothing of what was declined.
document.addEventListener(
  "submit",
  (event) => {
    const question = event.target instanceof HTMLFormElement ? event.target.dataset["confirm"] : undefined;
    if (!question || window.confirm(question)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  },
  true,
);

function localTimes(root: ParentNode): void {
  for (const element of root.querySelectorAll<HTMLTimeElement>("time[datetime][data-local]")) {
    const moment = new Date(element.dateTime);
    const zone = element.dataset["zoned"] === undefined ? "" : ` ${zoneOffset(moment)}`;
    element.textContent = `${localTime(moment, element.dataset["local"] === "seconds")}${zone}`;
    delete element.dataset["local"];
  }
  for (const element of root.querySelectorAll<HTMLElement>("[data-zone-name]")) element.textContent = zoneName();
}
localTimes(document);
mountSorts();
mountFailures();
mountFilling();
mountNarrowing();
mountFolds();
document.addEventListener("htmx:load", (event) => {
  if (!(event.target instanceof Element)) return;
  localTimes(event.target);
  mountSorts(event.target);
});
