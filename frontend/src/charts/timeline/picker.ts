// Finding one of a run's series among thousands, as the reader types.
import type { SeriesInfo } from "../../api/series";

export interface Choice {
  metric: string;
  name: string;
  unit: string;
  /** True when it never changed on any node. */
  constant: boolean;
  nodes: string[];
}

/** One choice a metric: its nodes are drawn together. Order: as the server sent it. */
export function choices(index: SeriesInfo[]): Choice[] {
  const found = new Map<string, Choice>();
  for (const { metric, name, unit, node, constant } of index) {
    const known = found.get(metric);
    if (known) {
      known.nodes.push(node);
      known.constant &&= constant;
    } else {
      found.set(metric, { metric, name, unit, constant, nodes: [node] });
    }
  }
  return [...found.values()];
}

/** Those with every typed word in their key or name; what starts with the words first, what never changed last. */
export function matching(all: Choice[], typed: string, limit = 30): Choice[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const rank = (choice: Choice): number => {
    const last = choice.metric.split(".").slice(2).join(".").toLowerCase() || choice.metric.toLowerCase();
    return (choice.constant ? 2 : 0) + (words[0] !== undefined && last.startsWith(words[0]) ? 0 : 1);
  };
  return all
    .filter((choice) => {
      const text = `${choice.metric} ${choice.name}`.toLowerCase();
      return words.every((word) => text.includes(word));
    })
    .map((choice, place) => ({ choice, place, rank: rank(choice) }))
    .sort((a, b) => a.rank - b.rank || a.place - b.place)
    .slice(0, limit)
    .map(({ choice }) => choice);
}
