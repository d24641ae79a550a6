// The run's USE panel: a value opens its reading beside the table, with its series on the page's clock.
import { withParameter } from "../../page/address";
import type { Panels } from "../../charts/timeline/panels";

type Range = [number, number];

export interface UseOptions {
  panels: Panels;
  /** All of the page's charts show this stretch of the clock; null: all of it. */
  zoom: (range: Range | null) => void;
  /** The tab of the panel is to be shown. */
  opened: () => void;
}

/** Half the stretch shown around a second that was pointed at, s. */
const AROUND = 10;

/** The stretch that an address asks for, s. */
export function asked(address: string): Range | null {
  const parameters = new URL(address, "http://localhost").searchParams;
  const from = Number(parameters.get("from") ?? Number.NaN);
  const to = Number(parameters.get("to") ?? Number.NaN);
  return Number.isFinite(from) && Number.isFinite(to) && from < to ? [from, to] : null;
}

/** Around the second that lies at a share (0 to 1) of a stretch of the clock. */
export function around(share: number, whole: Range): Range {
  const second = whole[0] + Math.min(Math.max(share, 0), 1) * (whole[1] - whole[0]);
  return [Math.max(0, second - AROUND), second + AROUND];
}

function isPlain(event: MouseEvent): boolean {
  return event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
}

function setParameter(name: string, value: string | null): void {
  const search = withParameter(window.location.search, name, value);
  history.replaceState(history.state, "", `${window.location.pathname}${search}${window.location.hash}`);
}

export function mountUse({ panels, zoom, opened }: UseOptions): void {
  const section = document.querySelector<HTMLElement>("#use");
  // The answer beside the charts, in the same words and links.
  const answer = document.querySelector<HTMLElement>(".run-limits");
  if (!section) return;
  let figure: HTMLElement | null = null;
  /** Id of the link that opened what is open: focus goes back there. */
  let opener = "";

  const current = (): string => section.querySelector<HTMLElement>(".use-opened")?.dataset["key"] ?? "";

  const mark = (): void => {
    const key = current();
    for (const link of document.querySelectorAll<HTMLElement>("[data-use]")) {
      if (link.dataset["use"] === key) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  };

  const drop = (): void => {
    if (figure) panels.remove(figure);
    figure = null;
  };

  const open = (link: HTMLAnchorElement, range: Range | null): void => {
    const key = link.dataset["use"] ?? "";
    opener = link.id || opener;
    drop();
    opened();
    setParameter("use", key);
    const address = `${window.location.pathname}use/${encodeURIComponent(key)}/`;
    void window.htmx.ajax("get", address, { target: "#use-opened", swap: "innerHTML" }).then(() => {
      const title = section.querySelector<HTMLElement>("#use-opened-title");
      title?.focus({ preventScroll: true });
      title?.scrollIntoView({ block: "nearest" });
    });
    zoom(range);
  };

  const close = (): void => {
    drop();
    section.querySelector("#use-opened")?.replaceChildren();
    setParameter("use", null);
    mark();
    document.getElementById(opener)?.focus();
  };

  const follow = (event: MouseEvent): void => {
    if (!(event.target instanceof Element) || !isPlain(event)) return;
    const spark = event.target.closest<SVGElement>(".use-table .spark");
    if (spark) {
      const link = spark.closest("td")?.querySelector<HTMLAnchorElement>("a[data-use]");
      const { left, width } = spark.getBoundingClientRect();
      const whole: Range = [Number(spark.dataset["from"]), Number(spark.dataset["to"])];
      if (link) open(link, around((event.clientX - left) / width, whole));
      return;
    }
    const link = event.target.closest<HTMLAnchorElement>("a[data-use], a[data-zoom], a[data-use-close]");
    if (!link) return;
    event.preventDefault();
    if (link.dataset["useClose"] !== undefined) close();
    else if (link.dataset["zoom"] !== undefined) zoom(asked(link.href));
    else open(link, asked(link.href));
  };
  section.addEventListener("click", follow);
  answer?.addEventListener("click", follow);

  section.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !(event.target instanceof Element) || !event.target.closest("#use-opened")) return;
    event.preventDefault();
    close();
  });

  section.querySelector<HTMLInputElement>("#use-all")?.addEventListener("change", (event) => {
    setParameter("resources", (event.target as HTMLInputElement).checked ? "all" : null);
  });

  // What htmx brought: the panel, again and again while the run is live, or a reading.
  document.addEventListener("htmx:load", (event) => {
    if (!(event.target instanceof Element)) return;
    if (!section.contains(event.target) && !answer?.contains(event.target)) return;
    mark();
    const found = section.querySelector<HTMLElement>("#use-opened figure[data-metrics]");
    if (!found || found === figure) return;
    drop();
    figure = found;
    panels.add(found);
  });
}
