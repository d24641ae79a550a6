// Requests that fail: what they were to renew stays, and says since when it is old, until the next answer.
import { localTime } from "./time";

/** What htmx knows of a request; an event of a test may have nothing. */
interface Details {
  elt?: Element;
  target?: Element;
  xhr?: XMLHttpRequest;
  requestConfig?: { verb: string };
  successful?: boolean;
}

const UNREACHABLE = "the server cannot be reached";
// Asked for once, when a part is opened or comes into view.
const ONCE = /^(load|revealed|prefetch|toggle)(?! delay)/;

/** "Not renewed since 12:03: …"; with the day where it was another one. */
export function staleWords(since: Date, reason: string, now = new Date(), timeZone?: string): string {
  const [then, today] = [localTime(since, false, timeZone), localTime(now, false, timeZone)];
  const isToday = then.slice(0, 10) === today.slice(0, 10);
  return `Not renewed since ${isToday ? then.slice(11) : then}: ${sentence(reason)}`;
}

/** With a full stop, and no capital letter after a colon. */
function sentence(words: string): string {
  const text = words.trim();
  const first = /^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
  return /[.!?]$/.test(first) ? first : `${first}.`;
}

/** Why, in the words of the page that the server answered with. `status` 0: no answer. */
export function reasonOf(status: number, title: string): string {
  if (status === 0) return UNREACHABLE;
  return title || `the server answered ${status}`;
}

function titleOf(xhr: XMLHttpRequest | undefined): string {
  if (!xhr?.getResponseHeader("Content-Type")?.startsWith("text/html")) return "";
  return new DOMParser().parseFromString(xhr.responseText, "text/html").querySelector("h1")?.textContent ?? "";
}

/** The words at each part that could not be renewed, and when each was renewed last, by its id. */
const notes = new Map<Element, HTMLElement>();
const renewed = new Map<string, Date>();
const opened = new Date();
/** Of the last action, if it failed. */
let undone: HTMLElement | null = null;

/** A mark of what is old. */
export function note(words: string): HTMLElement {
  const element = document.createElement("p");
  element.className = "notice notice--warning small";
  element.setAttribute("role", "status");
  element.dataset["state"] = "not-renewed";
  element.textContent = words;
  return element;
}

/** In the part itself, which takes it away with its next answer; rows have their table before them. */
function place(target: Element, element: HTMLElement, isInside: boolean): void {
  const table = target.matches("td, th") ? null : target.closest("table");
  if (table) (table.closest(".table-scroll") ?? table).before(element);
  else if (isInside) target.prepend(element);
  else target.before(element);
}

function failed({ elt, target, xhr, requestConfig }: Details): void {
  if (!target?.isConnected) return;
  const reason = reasonOf(xhr?.status ?? 0, titleOf(xhr));
  if (isAction(requestConfig)) {
    undone?.remove();
    undone = note(`Not done: ${sentence(reason)}`);
    place(target, undone, false);
    return;
  }
  const isFirst = ONCE.test(elt?.getAttribute("hx-trigger") ?? "") && !renewed.has(target.id);
  const words = isFirst
    ? `Could not be loaded: ${sentence(reason)} Reload the page to try again.`
    : staleWords(renewed.get(target.id) ?? opened, reason);
  const known = notes.get(target);
  if (!known?.isConnected) {
    const element = note(words);
    notes.set(target, element);
    place(target, element, true);
  } else if (known.textContent !== words) known.textContent = words;
}

function isAction(config: Details["requestConfig"]): boolean {
  return (config?.verb ?? "get") !== "get";
}

function answered({ target, requestConfig }: Details): void {
  // What was not done stays to be read until something is done, though its part is renewed every few seconds.
  if (isAction(requestConfig)) {
    undone?.remove();
    undone = null;
  }
  if (!target) return;
  if (target.id) renewed.set(target.id, new Date());
  for (const [each, element] of notes) {
    if (each !== target && each.isConnected) continue;
    element.remove();
    notes.delete(each);
  }
}

export function mountFailures(): void {
  const details = (event: Event): Details => {
    const given = (event as CustomEvent<Details | null>).detail ?? {};
    const target = given.target ?? (event.target instanceof Element ? event.target : undefined);
    return { ...given, ...(target ? { target } : {}) };
  };
  for (const failure of ["htmx:responseError", "htmx:sendError", "htmx:timeout"])
    document.addEventListener(failure, (event) => failed(details(event)));
  document.addEventListener("htmx:afterRequest", (event) => {
    const given = details(event);
    if (given.successful) answered(given);
  });
}
