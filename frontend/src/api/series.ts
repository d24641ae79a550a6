// GET /api/v1/runs/{id}/series/ and /series-index/.
import { getJson, query } from "./client";

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
  measured: [number | null, number | null];
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
  const answer = await getJson<SeriesInfo[] | { series: SeriesInfo[] }>(`runs/${run}/series-index/`);
  return Array.isArray(answer) ? answer : answer.series;
}
