// What happened on the run's clock: lanes, the list of events, the stretch in numbers, and how counters are read.
import "../../styles/timeline.css";
import type { View } from "../../page/address";
import type { Series } from "../../api/series";
import { loadTimeline, type Timeline } from "../../api/timeline";
import type { RunPageData } from "../../api/types.gen";
import { shown, type Clock } from "../../charts/timeline/timeline";
import { around, byLane } from "../../charts/timeline/lanes";
import type { Panels } from "../../charts/timeline/panels";
import { timelineAddress } from "../timeline/chart";
import { Lanes } from "../../timeline/lanes";
import { EventList } from "../../timeline/list";
import { mountRange } from "../../timeline/range";

export interface RunClockOptions {
  data: RunPageData;
  view: View;
  clock: Clock;
  panels: Panels;
  zoom: (range: [number, number] | null) => void;
  remember: () => void;
}

export interface RunClock {
  /** The stretch that is shown has changed. */
  moved: () => void;
  /** Ask again what happened; of a live run more may have. */
  refresh: () => Promise<void>;
}

export function timelineOf(run: number): (series: Series[]) => string {
  return (series) => timelineAddress(series.map(({ metric, node }) => ({ run, metric, node })));
}

export function mountRunClock(options: RunClockOptions): RunClock {
  const { data, view, clock, panels, zoom, remember } = options;
  const holder = document.querySelector<HTMLElement>("#lanes");
  const listed = document.querySelector<HTMLElement>("#events");
  const form = document.querySelector<HTMLFormElement>("#clock-range");
  const lanes = holder
    ? new Lanes(holder, { chosen: (event) => zoom(around(event, clock.whole)), left: () => zoom(null) })
    : null;
  const range = form ? mountRange(form, { changed: zoom }) : null;
  let happenings = data.events;

  const moved = (): void => {
    lanes?.show(byLane(data.lanes, shown(happenings, view.hidden)), clock.zoom ?? clock.whole);
    range?.(clock.zoom ?? clock.whole, clock.zoom === null);
  };

  const list = listed
    ? new EventList(listed, {
        hidden: view.hidden,
        filtered: (hidden) => {
          view.hidden = hidden;
          clock.hidden = hidden;
          remember();
          moved();
          void panels.redraw();
        },
        chosen: (span) => zoom(around(span, clock.whole)),
      })
    : null;

  const take = async (found: Timeline): Promise<void> => {
    const before = JSON.stringify([happenings, clock.measured]);
    happenings = found.happenings;
    if (found.measured) clock.measured = found.measured;
    if (JSON.stringify([happenings, clock.measured]) === before) return;
    clock.events = happenings;
    list?.show(happenings);
    moved();
    await panels.redraw();
  };

  const refresh = async (): Promise<void> => {
    try {
      await take(await loadTimeline(data.id));
    } catch {
      // What is on the page stays; the charts and the headline say since when it is old.
    }
  };

  mountReading(view, () => {
    remember();
    void panels.refresh();
  });
  moved();
  void refresh();
  return { moved, refresh };
}

/** Of each node or over all; as rates or as totals. There is no sum of totals. */
function mountReading(view: View, changed: () => void): void {
  const over = document.querySelector<HTMLSelectElement>("#reading-over");
  const totals = document.querySelector<HTMLSelectElement>("#reading-totals");
  if (!over || !totals) return;
  const show = (): void => {
    over.value = view.totals ? "" : view.over;
    over.disabled = view.totals;
    totals.value = view.totals ? "1" : "";
  };
  over.addEventListener("change", () => {
    view.over = over.value === "sum" || over.value === "mean" ? over.value : "";
    changed();
  });
  totals.addEventListener("change", () => {
    view.totals = totals.value === "1";
    if (view.totals) view.over = "";
    show();
    changed();
  });
  show();
}
