// What a run's page keeps in its address: chosen series, how they are read, which events are left out, and zoom.
import type { Reading } from "../api/series";

export interface View extends Reading {
  /** Chosen counters; null: the page's own choice. */
  series: string[] | null;
  zoom: [number, number] | null;
  /** Kinds of events that are left out. */
  hidden: string[];
}

export function readView(search: string): View {
  const parameters = new URLSearchParams(search);
  const series = parameters.getAll("series");
  const from = Number(parameters.get("from") ?? Number.NaN);
  const to = Number(parameters.get("to") ?? Number.NaN);
  const over = parameters.get("over");
  return {
    over: over === "sum" || over === "mean" ? over : "",
    totals: parameters.get("totals") === "1",
    hidden: parameters.getAll("hide").filter(Boolean),
    series: parameters.has("series") ? series.filter(Boolean) : null,
    zoom: Number.isFinite(from) && Number.isFinite(to) && from < to ? [from, to] : null,
  };
}

/** The query string of a view; what equals the page's own choice is left out. Other parameters are kept. */
export function writeView(search: string, view: View, own: string[]): string {
  const parameters = new URLSearchParams(search);
  for (const name of ["series", "from", "to", "over", "totals", "hide"]) parameters.delete(name);
  const chosen = view.series ?? own;
  if (chosen.join(" ") !== own.join(" ")) {
    // An empty choice is a choice too.
    for (const metric of chosen.length > 0 ? chosen : [""]) parameters.append("series", metric);
  }
  if (view.over) parameters.set("over", view.over);
  if (view.totals) parameters.set("totals", "1");
  for (const kind of view.hidden) parameters.append("hide", kind);
  if (view.zoom) {
    parameters.set("from", String(Number(view.zoom[0].toFixed(3))));
    parameters.set("to", String(Number(view.zoom[1].toFixed(3))));
  }
  const text = parameters.toString();
  return text ? `?${text}` : "";
}

/** Puts what the reader zoomed to, s, into the address of the page; null: all of it. */
export function rememberZoom(zoom: [number, number] | null): void {
  let search = window.location.search;
  (["from", "to"] as const).forEach((name, end) => {
    const value = zoom?.[end];
    search = withParameter(search, name, value === undefined ? null : String(Number(value.toFixed(3))));
  });
  const address = `${window.location.pathname}${search.replaceAll("%3A", ":")}${window.location.hash}`;
  window.history.replaceState(window.history.state, "", address);
}

/** The query string with one parameter set; null: without it. */
export function withParameter(search: string, name: string, value: string | null): string {
  const parameters = new URLSearchParams(search);
  if (value === null) parameters.delete(name);
  else parameters.set(name, value);
  const text = parameters.toString();
  return text ? `?${text}` : "";
}
