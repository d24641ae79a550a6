// Keys of triage, without the page.

const KEYS = new Set(["j", "k", "a", "c", "d", "u", "?"]);

/** The key that a person pressed for triage; empty: they type, or ask the browser for something. */
export function wanted(event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "target">): string {
  if (event.ctrlKey || event.metaKey || event.altKey || !KEYS.has(event.key)) return "";
  const target = event.target as { tagName?: string; isContentEditable?: boolean } | null;
  return target?.isContentEditable || /^(input|select|textarea)$/i.test(target?.tagName ?? "") ? "" : event.key;
}

/** The next place in a list of `count`; none (-1) is chosen yet: its first, whichever way. Stays at its ends. */
export function stepped(place: number, step: 1 | -1, count: number): number {
  return place < 0 ? 0 : Math.min(Math.max(place + step, 0), count - 1);
}
