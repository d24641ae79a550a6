// Tables with data-sorts: a heading sorts the shown rows, missing values last.
type SortKey = number | string | null;

const MISSING = /^(not|none|no)\b/;
const NUMBER = /^[-−]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?/;
// 10.11.19 is later than 10.6.22, and neither is a number.
const VERSION = /^\d+\.\d+\.\d/;

function sortKey(text: string): SortKey {
  const words = text.trim();
  if (words === "" || MISSING.test(words)) return null;
  const number = VERSION.test(words) ? null : NUMBER.exec(words);
  return number ? Number(number[0].replaceAll(",", "").replace("−", "-")) : words.toLowerCase();
}

/** Places of the texts in their order; numbers by value where all begin with one, else where they stand in the texts. */
export function sortedPlaces(texts: string[], descending: boolean): number[] {
  const found = texts.map(sortKey);
  const numeric = found.every((key) => typeof key !== "string");
  const keys = numeric ? found : texts.map((text, place) => (found[place] === null ? null : text.trim().toLowerCase()));
  const compare = (one: SortKey, other: SortKey): number => {
    if (one === null || other === null) return Number(one === null) - Number(other === null);
    const step = numeric
      ? Number(one) - Number(other)
      : String(one).localeCompare(String(other), undefined, { numeric: true });
    return descending ? -step : step;
  };
  return keys.map((_, place) => place).sort((one, other) => compare(keys[one] ?? null, keys[other] ?? null));
}

/** All digits where the cell shows fewer; times as they follow each other. */
function cellText(cell: Element | undefined): string {
  const time = cell?.querySelector("time")?.dateTime;
  if (time) return String(Date.parse(time));
  return cell?.querySelector<HTMLElement>(".n[title]")?.title ?? cell?.textContent ?? "";
}

function sortBy(table: HTMLTableElement, head: HTMLTableCellElement): void {
  const body = table.tBodies[0];
  if (!body) return;
  const rows = [...body.rows];
  const before = head.getAttribute("aria-sort");
  const descending = before ? before === "ascending" : head.classList.contains("num");
  const places = sortedPlaces(
    rows.map((row) => cellText(row.cells[head.cellIndex])),
    descending,
  );
  for (const other of table.querySelectorAll("th[aria-sort]")) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", descending ? "descending" : "ascending");
  body.append(...places.flatMap((place) => rows[place] ?? []));
}

/** Headings become buttons; those with a control of their own, or without words, stay. */
export function mountSorts(root: ParentNode = document): void {
  for (const head of root.querySelectorAll<HTMLTableCellElement>("table[data-sorts] > thead > tr > th")) {
    const table = head.closest("table");
    if (!table || head.querySelector("input, button") || !head.textContent.trim()) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sortBy(table, head));
    head.append(button);
  }
}
