// A field with data-narrows shows only those elements of the selector that have all the typed words.
export function mountNarrowing(): void {
  document.addEventListener("input", (event) => {
    const field = event.target;
    const selector = field instanceof HTMLInputElement ? field.dataset["narrows"] : undefined;
    if (!(field instanceof HTMLInputElement) || !selector) return;
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const element of document.querySelectorAll<HTMLElement>(selector)) {
      const text = element.textContent?.toLowerCase() ?? "";
      element.hidden = !words.every((word) => text.includes(word));
    }
  });
}
