// The list of events: filtered by kind and by words, each row leads to its part of the clock.
import type { Happening } from "../api/timeline";
import { arrange } from "../page/children";

export interface ListOptions {
  /** Kinds that the reader left out, from the address. */
  hidden: string[];
  filtered: (hidden: string[]) => void;
  chosen: (span: { starts_at: number; ends_at: number | null }) => void;
}

/** How a kind is called. */
export function kindName(kind: string): string {
  return kind.replaceAll("_", " ");
}

export class EventList {
  private hidden: Set<string>;
  private readonly body: HTMLElement;
  private readonly kinds: HTMLElement;
  private readonly words: HTMLInputElement;
  /** Rows by what they tell, and boxes by their kind: those that stay keep the focus. */
  private known = new Map<string, HTMLElement>();
  private readonly boxes = new Map<string, HTMLElement>();

  /** `holder` has a table body, a field for words [data-words] and a place for the kinds [data-kinds]. */
  constructor(
    holder: HTMLElement,
    private readonly options: ListOptions,
  ) {
    const [body, kinds, words] = [
      holder.querySelector<HTMLElement>("tbody"),
      holder.querySelector<HTMLElement>("[data-kinds]"),
      holder.querySelector<HTMLInputElement>("[data-words]"),
    ];
    if (!body || !kinds || !words) throw new Error("a list of events without its parts");
    [this.body, this.kinds, this.words] = [body, kinds, words];
    this.hidden = new Set(options.hidden);
    words.addEventListener("input", () => this.filter());
    body.addEventListener("click", (event) => {
      const button = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-from]") : null;
      if (!button) return;
      const until = button.dataset["until"];
      options.chosen({ starts_at: Number(button.dataset["from"]), ends_at: until ? Number(until) : null });
    });
    this.mountKinds();
  }

  /** What is known now takes the place of what the server wrote. */
  show(happenings: Happening[]): void {
    const before = this.known;
    const alike = new Map<string, number>();
    this.known = new Map();
    const rows = happenings.map((event) => {
      const text = JSON.stringify(event);
      alike.set(text, (alike.get(text) ?? 0) + 1);
      const key = `${text} ${alike.get(text)}`;
      const row = before.get(key) ?? rowOf(event);
      this.known.set(key, row);
      return row;
    });
    arrange(this.body, [...rows, ...this.body.querySelectorAll(":scope > :not([data-happening])")]);
    this.mountKinds();
  }

  private mountKinds(): void {
    const counts = new Map<string, number>();
    for (const row of this.rows())
      counts.set(row.dataset["kind"] ?? "", (counts.get(row.dataset["kind"] ?? "") ?? 0) + 1);
    arrange(
      this.kinds,
      [...counts].map(([kind, count]) => this.box(kind, count)),
    );
    this.filter();
  }

  private box(kind: string, count: number): HTMLElement {
    const known = this.boxes.get(kind);
    const number = known?.querySelector("span") ?? document.createElement("span");
    number.className = "muted";
    number.textContent = String(count);
    if (known) return known;
    const label = document.createElement("label");
    const box = document.createElement("input");
    box.type = "checkbox";
    box.value = kind;
    box.checked = !this.hidden.has(kind);
    box.addEventListener("change", () => {
      if (box.checked) this.hidden.delete(kind);
      else this.hidden.add(kind);
      this.filter();
      this.options.filtered([...this.hidden]);
    });
    label.append(box, " ", kindName(kind), " ", number);
    this.boxes.set(kind, label);
    return label;
  }

  private rows(): HTMLElement[] {
    return [...this.body.querySelectorAll<HTMLElement>("tr")];
  }

  private filter(): void {
    const words = this.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of this.rows()) {
      const text = row.textContent?.toLowerCase() ?? "";
      row.hidden = this.hidden.has(row.dataset["kind"] ?? "") || !words.every((word) => text.includes(word));
    }
  }
}

function rowOf(event: Happening): HTMLElement {
  const row = document.createElement("tr");
  row.dataset["happening"] = "";
  row.dataset["kind"] = event.kind;
  const head = document.createElement("th");
  head.scope = "row";
  head.textContent = event.label;
  const at = document.createElement("td");
  at.className = "num";
  const button = document.createElement("button");
  button.type = "button";
  button.className = "link";
  button.dataset["from"] = String(event.starts_at);
  button.dataset["until"] = event.ends_at === null ? "" : String(event.ends_at);
  button.textContent = event.starts_at.toFixed(2);
  button.title = "Show this part of the clock";
  at.append(button);
  const cell = (text: string, className = ""): HTMLElement => {
    const made = document.createElement("td");
    made.className = className;
    made.textContent = text;
    return made;
  };
  row.append(
    head,
    at,
    cell(event.ends_at === null ? "a moment" : event.ends_at.toFixed(2), "num"),
    cell(event.node),
    cell(kindName(event.kind)),
  );
  return row;
}
