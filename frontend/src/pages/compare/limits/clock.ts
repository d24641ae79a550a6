// The nodes' clock in the part "Limits" of Compare: loads the series when it comes into view; its zoom is in the address.
import { pageData } from "../../../api/client";
import { inGroups, loadSeries, type Series } from "../../../api/series";
import type { NodeClock } from "../../../api/types.gen";
import { mountActions } from "../../../charts/actions";
import { toCsv } from "../../../charts/csv";
import { draw, whenVisible } from "../../../charts/plotly";
import { isShared, NOT_SHARED, offerRetry } from "../../../charts/retry";
import { readView, rememberZoom } from "../../../page/address";
import { chartHeight, clockChart, clockRows, drawnRows, type Loaded } from "./clock_chart";

async function load(data: NodeClock): Promise<{ loaded: Loaded; problems: string[] }> {
  const metrics = new Map<number, Set<string>>();
  for (const { run, metric } of drawnRows(data).flatMap((each) => each.series))
    metrics.set(run, (metrics.get(run) ?? new Set()).add(metric));
  const answers = new Map<number, Series[]>();
  const problems: string[] = [];
  await Promise.all(
    [...metrics].map(async ([run, wanted]) => {
      try {
        const found = inGroups(wanted).map((group) => loadSeries(run, group, { align: "measured" }));
        answers.set(
          run,
          (await Promise.all(found)).flatMap(({ series }) => series),
        );
      } catch (reason) {
        problems.push(`Run ${run}: ${reason instanceof Error ? reason.message : String(reason)}`);
      }
    }),
  );
  const loaded: Loaded = ({ run, metric, node }) =>
    answers.get(run)?.find((each) => each.metric === metric && each.node === node);
  return { loaded, problems };
}

async function show(data: NodeClock, figure: Element, plot: HTMLElement): Promise<void> {
  const { loaded, problems } = await load(data);
  const notes = figure.querySelector(".chart__notes");
  if (notes) notes.textContent = problems.join(" ");
  const isEmpty = drawnRows(data).every(({ series }) => series.every((wanted) => !loaded(wanted)));
  if (isEmpty && problems.length > 0) {
    offerRetry(plot, "These runs could not be loaded.", () => void show(data, figure, plot));
    return;
  }
  const { zoom } = readView(window.location.search);
  const element = await draw(plot, (palette) => clockChart(data, loaded, zoom, palette));
  element.on("plotly_relayout", (change) => {
    const {
      "xaxis.range[0]": from,
      "xaxis.range[1]": to,
      "xaxis.autorange": whole,
    } = change as Record<string, unknown>;
    if (typeof from === "number" && typeof to === "number") rememberZoom([from, to]);
    else if (whole) rememberZoom(null);
  });
  const holder = figure.querySelector<HTMLElement>(".chart__actions");
  if (!holder) return;
  mountActions(holder, {
    plot,
    filename: "compare-nodes",
    anchor: "chart-clock",
    csv: () => {
      const { header, rows } = clockRows(data, loaded);
      return toCsv(header, rows);
    },
  });
}

export function mount(root: HTMLElement): void {
  const figure = root.querySelector("#chart-clock");
  const plot = figure?.querySelector<HTMLElement>(".chart__plot");
  if (!figure || !plot) return;
  if (isShared()) {
    plot.textContent = NOT_SHARED;
    return;
  }
  const data = pageData("clock-data");
  plot.style.height = `${chartHeight(data)}px`;
  whenVisible(plot, () => void show(data, figure, plot));
}
