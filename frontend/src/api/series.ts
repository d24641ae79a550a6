// GET /api/v1/runs/{id}/series/ and /series-index/.
import { getJson, query } from "./client";

/** The server answers for so many metrics at once. */
export const MOST_METRICS = 50;

export interface Series {
  metric: string;
  name: string;
  unit: string;
  direction: "higher" | "lower" | "neutral";
  node: string;
  kind: "rate" | "gauge";
  at: number[];
  values: (number | null)[];
  resets: number[];
}

export interface SeriesAnswer {
  run: number;
  /** [from, to), s; null: not known yet. */
  measured: [number, number] | null;
  series: Series[];
  missing: { metric: string; reason: string }[];
}

export interface SeriesInfo {
  metric: string;
  name: string;
  unit: string;
  node: string;
  constant: boolean;
  mean: number | null;
}

export function loadSeries(run: number, metrics: string[], points = 800, signal?: AbortSignal): Promise<SeriesAnswer> {
  return getJson<SeriesAnswer>(`runs/${run}/series/${query({ metric: metrics, points })}`, signal);
}

export async function loadSeriesIndex(run: number): Promise<SeriesInfo[]> {
  return (await getJson<{ series: SeriesInfo[] }>(`runs/${run}/series-index/`)).series;
}
