// GET /api/v1/runs/{id}/series/ and /series-index/.
import { getJson, query } from "./client";
import type {
  OneSeries as Series,
  RunSeries as SeriesAnswer,
  SeriesEntry as SeriesInfo,
  SeriesIndex,
} from "./types.gen";

/** The server answers for so many metrics at once. */
export const MOST_METRICS = 50;
/** To which a series is thinned, its lowest and highest kept. */
export const POINTS = 800;

export type { Series, SeriesAnswer, SeriesInfo };

/** How counters are read: over the nodes or of each, as rates or as their totals. */
export interface Reading {
  over: "" | "sum" | "mean";
  totals: boolean;
}

export const OF_EACH: Reading = { over: "", totals: false };

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

/** Lists of at most so many as the server answers at once, each metric once. */
export function inGroups(metrics: Iterable<string>): string[][] {
  const all = [...new Set(metrics)];
  return Array.from({ length: Math.ceil(all.length / MOST_METRICS) }, (_, place) =>
    all.slice(place * MOST_METRICS, (place + 1) * MOST_METRICS),
  );
}

export async function loadSeriesIndex(run: number): Promise<SeriesInfo[]> {
  return (await getJson<SeriesIndex>(`runs/${run}/series-index/`)).series;
}
