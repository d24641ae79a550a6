/** Folded parts of a page (<details data-fold>): a link to what is inside opens them, and paper shows them open. */
import { PREPARE } from "./print";

function openTo(target: Element | null): boolean {
  let opened = false;
  for (let fold = target?.closest("details"); fold; fold = fold.parentElement?.closest("details")) {
    if (!fold.open) opened = fold.open = true;
  }
  return opened;
}

/** What the address points to, where it lies in a fold. */
function follow(): void {
  const id = decodeURIComponent(window.location.hash.slice(1));
  const target = id ? document.getElementById(id) : null;
  if (openTo(target)) target?.scrollIntoView();
}

function openForPaper(): void {
  const opened = new Set<HTMLDetailsElement>();
  const open = (): void => {
    for (const fold of document.querySelectorAll<HTMLDetailsElement>("details[data-fold]:not([open])")) {
      fold.open = true;
      opened.add(fold);
    }
  };
  document.addEventListener(PREPARE, open);
  window.addEventListener("beforeprint", open, { capture: true });
  window.addEventListener("afterprint", () => {
    for (const fold of opened) fold.open = false;
    opened.clear();
  });
}

export function mountFolds(): void {
  follow();
  window.addEventListener("hashchange", follow);
  // A link to where the address points already changes nothing in it.
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>("a[href*='#']") : null;
    if (link?.hash && link.hash === window.location.hash && link.pathname === window.location.pathname) follow();
  });
  document.addEventListener("htmx:load", (event) => {
    const hash = window.location.hash.slice(1);
    if (hash && event.target instanceof Element && event.target.querySelector(`#${CSS.escape(hash)}`)) follow();
  });
  openForPaper();
}
