// Where what happened stands in its lane: spans as bars, moments as marks, each with its words beside it where they fit.
import type { Happening } from "../../api/timeline";

/** A row of the picture: what it is called and what happened in it. */
export interface Lane {
  key: string;
  name: string;
  events: Happening[];
}

/** px from the lane's left edge; `words`: where they begin and how wide they may be, null: there is no room for them. */
export interface Placed {
  event: Happening;
  left: number;
  width: number;
  row: number;
  words: { left: number; width: number } | null;
}

const LEAST_BAR = 5;
const ROOM = 6;
const MOST_WORDS = 420;
/** With words, of one lane; what finds no place there is marked without words in one row more. */
export const MOST_ROWS = 7;

type Interval = [number, number];

/** Lanes in the order of `names` (key, name), those with something in them. */
export function byLane(names: [string, string][], events: Happening[]): Lane[] {
  return names
    .map(([key, name]) => ({ key, name, events: events.filter((event) => event.lane === key) }))
    .filter((lane) => lane.events.length > 0);
}

function overlaps(taken: Interval[], [from, to]: Interval): boolean {
  return taken.some(([start, end]) => from < end && start < to);
}

/** What the others are about: these have their words first. */
const FIRST = new Set(["fault", "outage", "promotion", "ddl", "measured"]);
/** Lanes of which a node has the word. */
const OF_NODES = new Set(["nodes", "observation"]);

/** The words in the lane. */
export function words(event: Happening): string {
  // Some labels begin with the node's name themselves.
  const isNamed = !event.node || event.label.startsWith(`${event.node} `);
  return isNamed || !OF_NODES.has(event.lane) ? event.label : `${event.node}: ${event.label}`;
}

function rank(event: Happening): number {
  return FIRST.has(event.kind) ? 0 : 1;
}

/** Rows such that no words lie over others; in the order of time. `measure`: how wide a text is, px. */
export function placed(
  events: Happening[],
  [first, last]: [number, number],
  width: number,
  measure: (text: string) => number,
): Placed[] {
  const scale = width / Math.max(last - first, 1e-9);
  const rows: Interval[][] = [];
  const place = (event: Happening): Placed => {
    const left = Math.min(Math.max(event.starts_at - first, 0) * scale, width - LEAST_BAR);
    const bar = Math.max(Math.min(((event.ends_at ?? event.starts_at) - first) * scale, width) - left, LEAST_BAR);
    const end = left + bar;
    const text = Math.min(measure(words(event)), MOST_WORDS) + 2 * ROOM;
    const behind = width - end;
    let at: { left: number; width: number };
    if (text <= bar) at = { left, width: bar };
    else if (text <= behind || behind >= left) at = { left: end, width: Math.min(text, behind) };
    else at = { left: Math.max(left - text, 0), width: Math.min(text, left) };
    const taken: Interval = [Math.min(at.left, left), Math.max(at.left + at.width, end)];
    const row = rows.findIndex((each) => !overlaps(each, taken));
    if (row >= 0) rows[row]?.push(taken);
    else if (rows.length < MOST_ROWS) rows.push([taken]);
    else return { event, left, width: bar, row: MOST_ROWS, words: null };
    return { event, left, width: bar, row: row >= 0 ? row : rows.length - 1, words: at };
  };
  return events
    .filter((event) => event.starts_at <= last && (event.ends_at ?? event.starts_at) >= first)
    .sort((one, other) => rank(one) - rank(other))
    .map(place)
    .sort((one, other) => one.event.starts_at - other.event.starts_at);
}

/** What a reader of the screen, or a pointer, gets: it begins with the words in the lane, by which it can be called. */
export function sentence(event: Happening): string {
  const at = `${seconds(event.starts_at)}${event.ends_at === null ? "" : ` to ${seconds(event.ends_at)}`}`;
  const where = event.node && !OF_NODES.has(event.lane) ? ` on ${event.node}` : "";
  return `${words(event)}${where}, ${at}`;
}

export function seconds(value: number): string {
  return `${value.toLocaleString("en", { maximumFractionDigits: 2 })} s`;
}

/** A stretch of the clock that shows an event and what surrounds it. */
export function around(
  event: { starts_at: number; ends_at: number | null },
  whole: [number, number] | null,
): [number, number] {
  const end = event.ends_at ?? event.starts_at;
  const room = Math.max((end - event.starts_at) / 2, 5);
  const [first, last] = whole ?? [-Infinity, Infinity];
  return [Math.max(event.starts_at - room, first), Math.min(end + room, last)];
}

/** Marks of a scale in round steps, about so many. */
export function ticks([first, last]: [number, number], count: number): number[] {
  const rough = Math.max(last - first, 1e-6) / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough) ?? 10 * power;
  const found: number[] = [];
  for (let tick = Math.ceil(first / step) * step; tick <= last + step * 1e-9; tick += step)
    found.push(Number(tick.toPrecision(12)));
  return found;
}
