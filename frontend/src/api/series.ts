// GET /api/v1/runs/{id}/series/ and /series-index/.
import { getJson, query } from "./client";
import type { Schemas } from "./types";

/** The server answers for so many metrics at once. */
export const MOST_METRICS = 50;
/** To which a series is thinned, its lowest and highest kept. */
export const POINTS = 800;

export interface Series {
  metric: string;
  name: string;
  unit: string;
  direction: "higher" | "lower" | "neutral";
  node: string;
  /** A counter's rate or its totals, or a value of the moment. */
  kind: "rate" | "gauge" | "counter";
  at: number[];
  values: (number | null)[];
  resets: number[];
  /** Where t = 0 is, s on the run's clock. */
  zero?: number;
  /** Over nodes: which. */
  nodes?: string[];
}

/** How counters are read: over the nodes or of each, as rates or as their totals. */
export interface Reading {
  over: "" | "sum" | "mean";
  totals: boolean;
}

export const OF_EACH: Reading = { over: "", totals: false };

export interface SeriesAnswer {
  run: number;
  /** [from, to), s; null: not known yet. */
  measured: [number, number] | null;
  series: Series[];
  missing: { metric: string; reason: string }[];
}

export type SeriesInfo = Pick<Schemas["SeriesEntry"], "metric" | "name" | "unit" | "node" | "constant" | "mean">;

/** `align`: where t = 0 is, at the start of the run or of its measured phase. */
export function loadSeries(
  run: number,
  metrics: string[],
  { align = "run", over = "", totals = false }: Partial<Reading> & { align?: "run" | "measured" } = {},
): Promise<SeriesAnswer> {
  const asked = {
    metric: metrics,
    points: POINTS,
    align: align === "run" ? null : align,
    over_nodes: over || null,
    // There is no sum of raw samples.
    raw: totals && !over ? "true" : null,
  };
  return getJson<SeriesAnswer>(`runs/${run}/series/${query(asked)}`);
}

export async function loadSeriesIndex(run: number): Promise<SeriesInfo[]> {
  return (await getJson<{ series: SeriesInfo[] }>(`runs/${run}/series-index/`)).series;
}
