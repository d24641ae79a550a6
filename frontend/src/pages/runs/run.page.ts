// The page of one run: charts on its clock, any of its counters on demand, live while it is measured.
import { readView, writeView } from "../../page/address";
import { pageData } from "../../api/client";
import { loadSeriesIndex } from "../../api/series";
import type { Clock } from "../../charts/timeline/timeline";
import { Panels } from "../../charts/timeline/panels";
import { choices, matching, type Choice } from "../../charts/timeline/picker";
import { combobox } from "../../page/combobox";
import { Tabs } from "../../page/tabs";
import { mountLatency } from "../../charts/latency/mount_latency";
import { mountRunClock, timelineOf } from "./timeline";
import { mountUse } from "./use_method";

const REFRESH_MS = 2000;

const data = pageData("run-data");
const view = readView(window.location.search);
const zoom = (range: [number, number] | null): void => {
  view.zoom = range;
  remember();
  void panels.zoom(range);
};
const clock: Clock = {
  color: data.color,
  measured: data.measured,
  events: data.events,
  whole: data.whole,
  zoom: view.zoom,
  hidden: view.hidden,
};
const panels = new Panels({
  run: data.id,
  clock,
  reading: view,
  timeline: timelineOf(data.id),
  moved: () => runClock.moved(),
  zoomed: zoom,
});
const holder = document.querySelector<HTMLElement>("#counters");
const template = document.querySelector<HTMLTemplateElement>("#counter");
let chosen = view.series ?? [...data.counters];

function remember(): void {
  view.series = chosen;
  const address = writeView(window.location.search, view, data.counters);
  history.replaceState(history.state, "", `${window.location.pathname}${address}${window.location.hash}`);
}

function show(metric: string): HTMLElement | undefined {
  const figure = template?.content.firstElementChild?.cloneNode(true);
  if (!(figure instanceof HTMLElement) || !holder) return undefined;
  figure.dataset["metrics"] = metric;
  figure.id = `series-${metric}`;
  const name = figure.querySelector<HTMLElement>("[data-name]");
  if (name) {
    name.textContent = metric.replace(/^mysql\.status\./, "");
    name.title = metric;
  }
  const close = figure.querySelector<HTMLButtonElement>("[data-remove]");
  close?.setAttribute("aria-label", `Remove ${metric}`);
  close?.addEventListener("click", () => {
    chosen = chosen.filter((one) => one !== metric);
    panels.remove(figure);
    remember();
  });
  holder.append(figure);
  panels.add(figure);
  return figure;
}

const runClock = mountRunClock({ data, view, clock, panels, zoom, remember });
for (const figure of document.querySelectorAll<HTMLElement>("figure[data-metrics]")) panels.add(figure);
for (const metric of chosen) show(metric);
const nav = document.querySelector<HTMLElement>("[data-tabs]");
const tabs = nav && new Tabs(nav);
tabs?.mount();
mountUse({ panels, zoom, opened: () => tabs?.open("limits") });

if (data.latency) mountLatency(data.latency, `run-${data.id}-latency`);

let index: Promise<Choice[]> | undefined;
const field = document.querySelector<HTMLInputElement>("#picker");
const list = document.querySelector<HTMLElement>("#picker-list");
if (field && list) {
  combobox(
    field,
    list,
    async (typed) => {
      // A live run may bring new series: ask again each time then.
      if (!index || data.live) index = loadSeriesIndex(data.id).then(choices);
      try {
        const found = matching(await index, typed);
        return found
          .filter(({ metric }) => !chosen.includes(metric))
          .map((choice) => ({
            value: choice.metric,
            text: choice.metric,
            note: [choice.unit, choice.constant ? "never changed" : ""].filter(Boolean).join(", "),
          }));
      } catch (reason) {
        index = undefined;
        throw reason;
      }
    },
    (metric) => {
      chosen = [...chosen, metric];
      show(metric)?.scrollIntoView({ block: "nearest" });
      remember();
    },
  );
}

document.querySelector("#counters-reset")?.addEventListener("click", () => {
  chosen = [...data.counters];
  for (const figure of holder?.querySelectorAll<HTMLElement>("figure") ?? []) panels.remove(figure);
  for (const metric of chosen) show(metric);
  remember();
});

if (data.live) {
  const again = async (): Promise<void> => {
    if (document.visibilityState === "visible") await Promise.all([panels.refresh(), runClock.refresh()]);
    setTimeout(() => void again(), REFRESH_MS);
  };
  setTimeout(() => void again(), REFRESH_MS);
}
