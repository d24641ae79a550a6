// A text field that offers matches below it (ARIA combobox with a listbox): arrows, Enter, Escape, mouse.
export interface Offer<T> {
  value: T;
  text: string;
  note: string;
}

export function combobox<T>(
  field: HTMLInputElement,
  list: HTMLElement,
  find: (typed: string) => Promise<Offer<T>[]>,
  choose: (value: T) => void,
): void {
  let offers: Offer<T>[] = [];
  let active = -1;
  let asked = 0;

  const close = (): void => {
    list.hidden = true;
    active = -1;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  };
  const say = (words: string): void => {
    offers = [];
    const item = document.createElement("li");
    item.className = "muted";
    item.textContent = words;
    list.replaceChildren(item);
    list.hidden = false;
  };
  const activate = (place: number): void => {
    active = place;
    [...list.children].forEach((child, index) => child.setAttribute("aria-selected", String(index === place)));
    const child = list.children[place];
    if (!child) return;
    field.setAttribute("aria-activedescendant", child.id);
    child.scrollIntoView({ block: "nearest" });
  };
  const take = (place: number): void => {
    const offer = offers[place];
    if (!offer) return;
    choose(offer.value);
    field.value = "";
    close();
  };
  const open = async (): Promise<void> => {
    const question = ++asked;
    let found: Offer<T>[];
    try {
      found = await find(field.value);
    } catch (reason) {
      say(reason instanceof Error ? reason.message : String(reason));
      return;
    }
    if (question !== asked || document.activeElement !== field) return;
    offers = found;
    list.replaceChildren(
      ...found.map((offer, place) => {
        const item = document.createElement("li");
        item.id = `${list.id}-${place}`;
        item.setAttribute("role", "option");
        const note = document.createElement("span");
        note.className = "muted small";
        note.textContent = offer.note;
        item.append(offer.text, " ", note);
        item.addEventListener("mousedown", (event) => {
          event.preventDefault();
          take(place);
        });
        return item;
      }),
    );
    if (found.length === 0) {
      say("Nothing matches these words");
      return;
    }
    list.hidden = false;
    field.setAttribute("aria-expanded", "true");
    activate(0);
  };

  field.addEventListener("input", () => void open());
  field.addEventListener("focus", () => void open());
  field.addEventListener("blur", close);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
    if (list.hidden || offers.length === 0) return;
    if (event.key === "ArrowDown") activate((active + 1) % offers.length);
    else if (event.key === "ArrowUp") activate((active - 1 + offers.length) % offers.length);
    else if (event.key === "Enter") take(active);
    else return;
    event.preventDefault();
  });
}
