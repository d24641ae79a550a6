// GET /api/v1/runs/{id}/timeline/.
import { getJson } from "./client";
import type { Happening, Timeline } from "./types.gen";

export type { Happening, Timeline };

export function loadTimeline(run: number): Promise<Timeline> {
  return getJson<Timeline>(`runs/${run}/timeline/`);
}
