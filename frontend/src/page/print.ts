// Ctrl+P waits until everything below the fold is there: a browser's own event leaves no time to fetch anything.

/** Sent until everything is there: what a part brings has listeners of its own. */
export const PREPARE = "splashboard:print";
const LONGEST = 10_000; // ms
const STEP = 100; // ms
// A part that came asks for its charts a moment later.
const QUIET_STEPS = 3;

/** Prints once no chart is loading, and each has the size of its place. */
export async function printWhole(): Promise<void> {
  const end = performance.now() + LONGEST;
  let quiet = 0;
  document.body.setAttribute("aria-busy", "true");
  while (performance.now() < end && quiet < QUIET_STEPS) {
    document.dispatchEvent(new Event(PREPARE));
    await new Promise((done) => setTimeout(done, STEP));
    quiet = isLoading() ? 0 : quiet + 1;
  }
  document.body.removeAttribute("aria-busy");
  window.print();
}

function isLoading(): boolean {
  if (document.querySelector("[data-panel][data-asked], .compare-part.htmx-request")) return true;
  const plots = document.querySelectorAll<HTMLElement>(".chart__plot, [data-chart]");
  return [...plots].some((plot) => isWaiting(plot) || isUnfit(plot));
}

/** `data-busy`: its text says how far it is. */
function isWaiting(plot: HTMLElement): boolean {
  return "busy" in plot.dataset || plot.textContent.trim() === "loading";
}

/** Drawn for another width, as in a tab that was closed. */
function isUnfit(plot: HTMLElement): boolean {
  const { width } = (plot as { _fullLayout?: { width: number } })._fullLayout ?? {};
  return width !== undefined && plot.clientWidth > 0 && Math.abs(plot.clientWidth - width) >= 1;
}

export function printByKey(): void {
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "p" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
    event.preventDefault();
    void printWhole();
  });
}
