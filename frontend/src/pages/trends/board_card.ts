// What the card of a cell says, and where an arrow key leads.
export interface CardPart {
  tag: string;
  text: string;
  href?: string;
  className?: string;
}

export function cardParts(
  row: DOMStringMap,
  cell: { title: string; dataset: DOMStringMap },
  flags: { href: string; textContent: string | null; dataset: DOMStringMap }[],
): CardPart[] {
  const [when, change, note] = split(cell.title);
  const { value = "", runs = "", compare = "" } = cell.dataset;
  return [
    { tag: "strong", text: row["name"] ?? "" },
    { tag: "p", text: `${when} · ${row["metric"] ?? ""}`, className: "small muted" },
    { tag: "p", text: change, className: "board-card__change" },
    { tag: "p", text: value },
    { tag: "p", text: runs, className: "small" },
    ...(note ? [{ tag: "p", text: note, className: "small muted" }] : []),
    ...flags.flatMap((flag) => [
      {
        tag: "a",
        text: `Finding ${(flag.textContent ?? "").replace("⚑", "")}, ${flag.dataset["state"] ?? ""}`,
        href: flag.href,
      },
      ...(flag.dataset["why"] ? [{ tag: "p", text: flag.dataset["why"], className: "small muted" }] : []),
    ]),
    { tag: "a", text: "Open series", href: row["url"] ?? "" },
    ...(compare ? [{ tag: "a", text: "Compare with the baseline", href: compare }] : []),
  ];
}

/** "18 Nov 2025, 8.0.35: −19 % [−21 %, −18 %] worse" in two; a second line has the reason. */
function split(title: string): [string, string, string] {
  const [first = "", note = ""] = title.split("\n");
  const at = first.indexOf(": ");
  return [first.slice(0, at), first.slice(at + 2), note];
}

/** The neighbour in the direction of the key; rows may have gaps, so up and down keep the distance to the newest. */
export function step<Cell>(rows: Cell[][], cell: Cell, key: string): Cell | undefined {
  const at = rows.findIndex((row) => row.includes(cell));
  const row = rows[at];
  if (!row) return undefined;
  const place = row.indexOf(cell);
  if (key === "ArrowLeft") return row[place - 1];
  if (key === "ArrowRight") return row[place + 1];
  if (key === "Home") return row[0];
  if (key === "End") return row.at(-1);
  const other = key === "ArrowUp" ? rows[at - 1] : key === "ArrowDown" ? rows[at + 1] : undefined;
  return other?.[Math.max(0, other.length - (row.length - place))];
}
