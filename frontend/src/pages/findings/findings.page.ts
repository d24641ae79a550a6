// Findings: triage by keys in the list and on the page of one, and the chart of one.
import "../../styles/published.css";
import "../../styles/findings.css";
import { pageData } from "../../api/client";
import { mountChart } from "../../charts/mount";
import { findingChart, findingRows } from "./finding_chart";
import { stepped, wanted } from "./triage";

const dialog = document.querySelector<HTMLDialogElement>("#keys");
document.addEventListener("click", (event) => {
  if (event.target instanceof Element && event.target.closest("[data-keys-help]")) dialog?.showModal();
});

/** The button is hidden until it works; with another filter the head of the list is a new one. */
function showKeysHelp(): void {
  for (const button of document.querySelectorAll<HTMLElement>("[data-keys-help=waiting]"))
    button.dataset["keysHelp"] = "";
}
showKeysHelp();
document.addEventListener("htmx:load", showKeysHelp);

const figure = document.querySelector<HTMLElement>("#chart");
if (figure) {
  const chart = pageData("finding-chart");
  mountChart(figure, {
    chart: (palette) => findingChart(chart, figure.clientWidth, palette),
    table: () => findingRows(chart),
    filename: figure.dataset["filename"] ?? "finding",
    address: figure.dataset["address"] ?? "",
    anchor: figure.id,
  });
}

const rows = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>("tr[data-finding]")];
// By id: a row is another element after an action.
let chosen = "";

function choose(row: HTMLElement | undefined, focus = true): void {
  for (const each of rows()) each.removeAttribute("aria-current");
  if (!row) return;
  chosen = row.dataset["finding"] ?? "";
  row.setAttribute("aria-current", "true");
  row.scrollIntoView({ block: "nearest" });
  if (focus) row.querySelector<HTMLElement>("a")?.focus({ preventScroll: true });
}

function current(): HTMLElement | undefined {
  return rows().find((row) => row.dataset["finding"] === chosen);
}

function press(key: string): boolean {
  const list = rows();
  if ((key === "j" || key === "k") && list.length) {
    const place = stepped(
      list.findIndex((row) => row.dataset["finding"] === chosen),
      key === "j" ? 1 : -1,
      list.length,
    );
    choose(list[place]);
    return true;
  }
  const target = (list.length ? current() : document)?.querySelector<HTMLElement>(`[data-key="${key}"]`);
  if (!target) return false;
  target.click();
  return true;
}

document.addEventListener("keydown", (event) => {
  const key = wanted(event);
  if (!key || dialog?.open) return;
  if (key === "?") {
    dialog?.showModal();
    event.preventDefault();
  } else if (press(key)) {
    event.preventDefault();
  }
});

document.addEventListener("focusin", (event) => {
  const row = event.target instanceof Element ? event.target.closest<HTMLElement>("tr[data-finding]") : null;
  if (row && row.dataset["finding"] !== chosen) choose(row, false);
});

// After an action the row is a new one: it stays the chosen one, so that the next key goes on from there.
document.addEventListener("htmx:load", (event) => {
  const row = event.target instanceof HTMLElement ? event.target.closest<HTMLElement>("tr[data-finding]") : null;
  if (row && row.dataset["finding"] === chosen) choose(row);
});
