// Ctrl+P waits until everything below the fold is there: a browser's own event leaves no time to fetch anything.

export const PREPARE = "splashboard:print";
const LONGEST = 10_000; // ms
const UNFINISHED = ".chart__plot, [data-chart]";

/** Prints once no chart says "loading" any more. */
export async function printWhole(): Promise<void> {
  document.dispatchEvent(new Event(PREPARE));
  const end = performance.now() + LONGEST;
  while (performance.now() < end && isLoading()) await new Promise((done) => setTimeout(done, 100));
  window.print();
}

function isLoading(): boolean {
  return [...document.querySelectorAll(UNFINISHED)].some((each) => each.textContent.trim() === "loading");
}

export function printByKey(): void {
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "p" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
    event.preventDefault();
    void printWhole();
  });
}
