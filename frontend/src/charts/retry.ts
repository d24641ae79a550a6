// A chart whose values did not come: why, and what to do.

export const NOT_SHARED = "Values by the second are not part of a shared page.";

/** A page opened by a shared link, whose reader may ask for nothing else. */
export function isShared(): boolean {
  return document.querySelector("[data-shared-page]") !== null;
}

export function offerRetry(plot: HTMLElement, words: string, again: () => void): void {
  const text = document.createElement("p");
  text.textContent = `${words} `;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button button--small";
  button.textContent = "Try again";
  button.addEventListener("click", () => {
    plot.textContent = "loading";
    again();
  });
  text.append(button);
  plot.replaceChildren(text);
}
