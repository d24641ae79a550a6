// GET /api/v1/runs/{id}/timeline/.
import { getJson } from "./client";
import type { Schemas } from "./types";

/** Something on a run's clock, s; `ends_at` null: a moment; `count`: of a burst of errors. */
export type Happening = Schemas["Happening"];

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
