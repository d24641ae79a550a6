// GET /api/v1/series/: the series of several runs on one clock.
import { getJson, query } from "../../api/client";
import { POINTS } from "../../api/series";
import type { MissingInRun, SeriesOfRuns } from "../../api/types.gen";

export type { MissingInRun };

export type TimelineAnswer = Pick<SeriesOfRuns, "series" | "missing">;

export interface Asked {
  run: number;
  metric: string;
  node: string;
}

export interface TimelineClock {
  /** "run", "measured", or the kind of the event at which t = 0 is. */
  align: string;
  totals: boolean;
}

/** Of one run: its nodes' own series in one question, sums and means in one more each. Only what was asked for. */
export async function loadTimelineSeries(asked: Asked[], { align, totals }: TimelineClock): Promise<TimelineAnswer> {
  const groups = new Map<string, Asked[]>();
  for (const each of asked) {
    const key = `${each.run} ${overOf(each) ?? ""}`;
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  const answers = await Promise.all([...groups.values()].map((group) => loadGroup(group, { align, totals })));
  return { series: answers.flatMap(({ series }) => series), missing: answers.flatMap(({ missing }) => missing) };
}

function overOf({ node }: Asked): "sum" | "mean" | null {
  return node === "sum" || node === "mean" ? node : null;
}

async function loadGroup(group: Asked[], { align, totals }: TimelineClock): Promise<TimelineAnswer> {
  const [first] = group;
  if (!first) return { series: [], missing: [] };
  const over = overOf(first);
  const isEvent = align !== "run" && align !== "measured";
  const unique = (texts: string[]): string[] => [...new Set(texts)];
  const address = query({
    run: first.run,
    metric: unique(group.map(({ metric }) => metric)),
    node: over ? null : unique(group.map(({ node }) => node)),
    over_nodes: over,
    raw: totals && !over ? "true" : null,
    align: isEvent ? "event" : align,
    event: isEvent ? align : null,
    points: POINTS,
  });
  const answer = await getJson<TimelineAnswer>(`series/${address}`);
  const wanted = ({ metric, node }: { metric: string; node: string }): boolean =>
    group.some((each) => each.metric === metric && each.node === node);
  const found = answer.series.filter(wanted);
  const missing = group
    .filter((each) => !found.some((series) => series.metric === each.metric && series.node === each.node))
    .map((each) => {
      const known = answer.missing.find(({ metric, node }) => metric === each.metric && (!node || node === each.node));
      return { ...each, reason: known?.reason ?? `not observed on ${each.node}` };
    });
  return { series: found, missing };
}
