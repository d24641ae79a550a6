// Runs ticked in the list, on their way to a comparison.
export interface TickedRun {
  id: string;
  system: string;
  workload: string;
  /** Start, s since 1970. */
  started: number;
}

export interface Selection {
  /** Where the comparison is; null while the selection makes none. */
  address: string | null;
  words: string;
}

export const MOST_SIDES = 4;

function plural(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? "" : "s"}`;
}

/** A comparison has two to four systems and one workload; the system measured first is the baseline. */
export function selection(ticked: TickedRun[], page = "/compare/"): Selection {
  const runs = [...ticked].sort((one, other) => one.started - other.started);
  const systems = [...new Set(runs.map((run) => run.system))];
  const workloads = [...new Set(runs.map((run) => run.workload))];
  const what = `${plural(runs.length, "run")} of ${plural(systems.length, "system")}`;
  if (workloads.length > 1) {
    return { address: null, words: `${what}, of ${workloads.length} workloads: a comparison is of one workload` };
  }
  if (systems.length < 2) return { address: null, words: `${what}: tick runs of another system to compare with` };
  if (systems.length > MOST_SIDES) {
    return { address: null, words: `${what}: a comparison has at most ${MOST_SIDES} systems` };
  }
  const parameters = new URLSearchParams();
  for (const system of systems) parameters.append("side", system);
  parameters.set("workload", workloads[0] ?? "");
  parameters.set("runs", runs.map((run) => run.id).join(","));
  return { address: `${page}?${parameters.toString().replaceAll("%2C", ",")}`, words: what };
}

/** What of a filter is chosen, as the server words it too. */
export function facetWords(chosen: string[], all: number): string {
  if (chosen.length === 0) return "any";
  return chosen.length === 1 ? (chosen[0] ?? "any") : `${chosen.length} of ${all}`;
}
