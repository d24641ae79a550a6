// GET /api/v1/runs/{id}/timeline/.
import { getJson } from "./client";

/** Something on a run's clock, s; `ends_at` null: a moment. */
export interface Happening {
  lane: string;
  kind: string;
  label: string;
  starts_at: number;
  ends_at: number | null;
  node: string;
  /** Of a burst of errors. */
  count: number;
}

export interface Timeline {
  run: number;
  live: boolean;
  measured: [number, number] | null;
  whole: [number, number] | null;
  happenings: Happening[];
  problem: string;
}

export function loadTimeline(run: number): Promise<Timeline> {
  return getJson<Timeline>(`runs/${run}/timeline/`);
}
