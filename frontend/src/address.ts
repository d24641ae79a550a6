// What a run's page keeps in its address: chosen series and zoom.
export interface View {
  /** Chosen counters; null: the page's own choice. */
  series: string[] | null;
  zoom: [number, number] | null;
}

export function readView(search: string): View {
  const parameters = new URLSearchParams(search);
  const series = parameters.getAll("series");
  const from = Number(parameters.get("from") ?? Number.NaN);
  const to = Number(parameters.get("to") ?? Number.NaN);
  return {
    series: parameters.has("series") ? series.filter(Boolean) : null,
    zoom: Number.isFinite(from) && Number.isFinite(to) && from < to ? [from, to] : null,
  };
}

/** The query string of a view; what equals the page's own choice is left out. Other parameters are kept. */
export function writeView(search: string, view: View, own: string[]): string {
  const parameters = new URLSearchParams(search);
  for (const name of ["series", "from", "to"]) parameters.delete(name);
  const chosen = view.series ?? own;
  if (chosen.join(" ") !== own.join(" ")) {
    // An empty choice is a choice too.
    for (const metric of chosen.length > 0 ? chosen : [""]) parameters.append("series", metric);
  }
  if (view.zoom) {
    parameters.set("from", String(Number(view.zoom[0].toFixed(3))));
    parameters.set("to", String(Number(view.zoom[1].toFixed(3))));
  }
  const text = parameters.toString();
  return text ? `?${text}` : "";
}
