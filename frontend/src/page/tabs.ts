// Tabs of a page: links with addresses of their own, fetched one after another before they are opened.
import { PREPARE } from "./print";

const names = (panel: HTMLElement): string => panel.dataset["panel"] ?? "";

/** The address of this page with another tab. */
export function withTab(address: string, tab: string, first: string): string {
  const url = new URL(address);
  if (tab === first) url.searchParams.delete("tab");
  else url.searchParams.set("tab", tab);
  // Sides and runs are read more easily without escapes.
  url.search = url.search.replaceAll("%2C", ",").replaceAll("%40", "@").replaceAll("%3A", ":");
  return url.href;
}

export class Tabs {
  private readonly links: HTMLAnchorElement[];
  private readonly panels: HTMLElement[];
  /** What an address without a tab opens. */
  private readonly usual: string;

  constructor(private readonly nav: HTMLElement) {
    this.links = [...nav.querySelectorAll<HTMLAnchorElement>("a[data-tab]")];
    this.panels = [...document.querySelectorAll<HTMLElement>("[data-panel]")];
    const open = this.panels.find((panel) => !("closed" in panel.dataset));
    this.usual = new URL(window.location.href).searchParams.has("tab") || !open ? this.first() : names(open);
  }

  mount(): void {
    // All tabs are shown at once: nothing to open.
    if (!this.panels.some((panel) => "closed" in panel.dataset)) return;
    this.nav.addEventListener("click", (event) => this.follow(event, this.links));
    document.addEventListener("click", (event) => {
      const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>("a[data-to-tab]") : null;
      if (link) this.follow(event, [link]);
    });
    for (const link of this.links)
      for (const soon of ["pointerenter", "focus"]) link.addEventListener(soon, () => this.fetch(link.dataset["tab"]));
    window.addEventListener("popstate", () => this.show(this.current()));
    // Before the charts within are told: these want a place to be drawn in.
    const open = (): void => this.panels.forEach((panel) => delete panel.dataset["closed"]);
    window.addEventListener("beforeprint", open, { capture: true });
    const fetchAll = (): void => {
      open();
      for (const panel of this.panels) this.fetch(names(panel));
    };
    window.addEventListener(PREPARE, fetchAll, { capture: true });
    window.addEventListener("afterprint", () => this.show(this.current()));
    document.addEventListener("htmx:afterSwap", (event) => {
      const panel = event.target instanceof HTMLElement && event.target.matches("[data-panel]") ? event.target : null;
      if (panel) panel.dataset["loaded"] = "";
    });
    this.showNamed();
  }

  /** Fetches what has not come yet, the most wanted first, one at a time. */
  prefetch(): void {
    const waiting = this.panels.filter((panel) => !("loaded" in panel.dataset));
    waiting.sort((one, other) => Number(names(other) === "limits") - Number(names(one) === "limits"));
    const next = (): void => {
      const panel = waiting.shift();
      if (!panel) return;
      if ("asked" in panel.dataset) return next();
      panel.addEventListener("htmx:afterRequest", next, { once: true });
      this.fetch(names(panel));
    };
    next();
  }

  private first(): string {
    return this.links[0]?.dataset["tab"] ?? "";
  }

  private current(): string {
    return new URL(window.location.href).searchParams.get("tab") ?? this.usual;
  }

  private follow(event: MouseEvent, links: HTMLAnchorElement[]): void {
    const link = links.find((each) => event.target instanceof Node && each.contains(event.target));
    const tab = link?.dataset["tab"] ?? link?.dataset["toTab"];
    if (!link || !tab || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    this.open(tab);
    if (link.dataset["toTab"]) this.nav.scrollIntoView();
  }

  /** As if its link had been followed. */
  open(tab: string): void {
    if (this.panels.some((panel) => names(panel) === tab && !("closed" in panel.dataset))) return;
    const address = new URL(withTab(window.location.href, tab, this.usual));
    address.hash = "";
    window.history.pushState(null, "", address);
    this.show(tab);
  }

  private fetch(tab: string | undefined): void {
    const panel = this.panels.find((each) => names(each) === tab);
    if (!panel || "loaded" in panel.dataset || "asked" in panel.dataset) return;
    panel.dataset["asked"] = "";
    panel.addEventListener("htmx:afterRequest", () => delete panel.dataset["asked"], { once: true });
    // An address may name a tab before htmx has seen the page.
    window.htmx.process(panel);
    panel.dispatchEvent(new Event("prefetch"));
  }

  private show(tab: string): void {
    this.fetch(tab);
    for (const panel of this.panels) {
      if (names(panel) === tab) delete panel.dataset["closed"];
      else panel.dataset["closed"] = "";
    }
    for (const link of this.links) {
      if (link.dataset["tab"] === tab) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    for (const link of document.querySelectorAll<HTMLAnchorElement>("a[data-keeps-tab]"))
      link.href = withTab(link.href, tab, this.first());
  }

  /** An address from before there were tabs names a part of the page. */
  private showNamed(): void {
    const named = window.location.hash.slice(1);
    const inside = document.getElementById(named)?.closest<HTMLElement>("[data-panel]");
    const panel = named && (inside ?? this.panels.find((each) => each.dataset["parts"]?.split(" ").includes(named)));
    if (!panel || !("closed" in panel.dataset)) return;
    this.show(names(panel));
    window.history.replaceState(null, "", withTab(window.location.href, names(panel), this.usual));
  }
}
