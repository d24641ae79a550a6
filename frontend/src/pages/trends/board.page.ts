// The trend board: arrow keys move among the cells; a cell that is chosen opens its card.
import "../../styles/trend_board.css";
import { cardParts, step } from "./board_card";

const results = document.getElementById("results");

function cells(board: Element): HTMLAnchorElement[][] {
  return [...board.querySelectorAll("tr[data-trend]")].map((row) => [
    ...row.querySelectorAll<HTMLAnchorElement>("td > a[data-value]"),
  ]);
}

/** One cell is reached by the Tab key: the last chosen one, at first the newest of the first row. */
function reachable(board: Element, cell: HTMLAnchorElement | undefined): void {
  for (const other of board.querySelectorAll<HTMLAnchorElement>("td > a[tabindex='0']")) other.tabIndex = -1;
  if (cell) cell.tabIndex = 0;
}

function open(board: HTMLElement, cell: HTMLAnchorElement): void {
  const card = board.querySelector<HTMLElement>("[data-card]");
  const row = cell.closest<HTMLElement>("tr");
  if (!card || !row) return;
  for (const other of board.querySelectorAll(".board__chosen")) other.classList.remove("board__chosen");
  cell.parentElement?.classList.add("board__chosen");
  reachable(board, cell);
  const flags = [...(cell.parentElement?.querySelectorAll<HTMLAnchorElement>(".board-flag") ?? [])];
  card.replaceChildren(...cardParts(row.dataset, cell, flags).map((part) => element(part)));
  card.hidden = false;
  place(board, cell, card);
}

function element({
  tag,
  text,
  href,
  className,
}: {
  tag: string;
  text: string;
  href?: string;
  className?: string;
}): HTMLElement {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className) made.className = className;
  if (href) made.setAttribute("href", href);
  return made;
}

/** Beside the cell, where there is room: to the left of it, so that no later cell of a change is covered. */
function place(board: HTMLElement, cell: HTMLElement, card: HTMLElement): void {
  const [outer, own] = [board.getBoundingClientRect(), cell.getBoundingClientRect()];
  const left = own.left - outer.left - card.offsetWidth - 8;
  const below = own.bottom - outer.top + 6;
  const isLow = own.bottom + card.offsetHeight > window.innerHeight && own.top - card.offsetHeight > 0;
  card.style.left = `${Math.max(4, left > 0 ? left : Math.min(own.right - outer.left + 8, outer.width - card.offsetWidth - 4))}px`;
  card.style.top = `${isLow ? own.top - outer.top - card.offsetHeight - 6 : below}px`;
}

function close(): void {
  const board = document.querySelector("[data-board]");
  const card = board?.querySelector<HTMLElement>("[data-card]");
  if (!board || !card || card.hidden) return;
  card.hidden = true;
  for (const other of board.querySelectorAll(".board__chosen")) other.classList.remove("board__chosen");
}

function chosenCell(event: Event): HTMLAnchorElement | null {
  const target = event.target instanceof Element ? event.target : null;
  return target?.closest<HTMLAnchorElement>("[data-board] td > a[data-value]") ?? null;
}

results?.addEventListener("click", (event) => {
  const cell = chosenCell(event);
  const modified = event instanceof MouseEvent && (event.ctrlKey || event.metaKey || event.shiftKey);
  const board = cell?.closest<HTMLElement>("[data-board]");
  if (!cell || !board || modified) return;
  event.preventDefault();
  open(board, cell);
});
results?.addEventListener("focusin", (event) => {
  const cell = chosenCell(event);
  const board = cell?.closest<HTMLElement>("[data-board]");
  if (cell && board) open(board, cell);
});
results?.addEventListener("keydown", (event) => {
  const cell = chosenCell(event);
  const board = cell?.closest<HTMLElement>("[data-board]");
  if (!cell || !board) return;
  const next = step(cells(board), cell, event.key);
  if (!next) return;
  event.preventDefault();
  next.focus();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") close();
});
document.addEventListener("click", (event) => {
  if (event.target instanceof Element && !event.target.closest("[data-card], td > a[data-value]")) close();
});

/** Where the columns do not fit, the newest one and the change are the first to be seen; older ones lie to the left. */
function scrollToNewest(board: Element): void {
  const last = board.querySelector("tr[data-trend] > .board__last");
  const box = last?.closest(".table-scroll");
  if (last && box) box.scrollLeft += last.getBoundingClientRect().right - box.getBoundingClientRect().right;
}

function begin(): void {
  const board = document.querySelector("[data-board]");
  if (!board) return;
  reachable(board, cells(board)[0]?.at(-1));
  scrollToNewest(board);
}
begin();
document.addEventListener("htmx:load", begin);
