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

/** `align`: where t = 0 is, at the start of the run or of its measured phase. */
export function loadSeries(
  run: number,
  metrics: string[],
  points = 800,
  signal?: AbortSignal,
  align: "run" | "measured" = "run",
): Promise<SeriesAnswer> {
  const asked = { metric: metrics, points, ...(align === "run" ? {} : { align }) };
  return getJson<SeriesAnswer>(`runs/${run}/series/${query(asked)}`, signal);
}

export async function loadSeriesIndex(run: number): Promise<SeriesInfo[]> {
  return (await getJson<{ series: SeriesInfo[] }>(`runs/${run}/series-index/`)).series;
}
