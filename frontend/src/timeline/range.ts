// The part of the clock that is shown, in numbers: for the keyboard and for exactness.
export interface RangeOptions {
  /** Null: the whole clock. */
  changed: (range: [number, number] | null) => void;
}

/** `form` has the fields `from` and `to`, a submit button, and a button [data-whole]. */
export function mountRange(
  form: HTMLFormElement,
  options: RangeOptions,
): (shown: [number, number] | null, whole: boolean) => void {
  const field = (name: string): HTMLInputElement | null =>
    form.querySelector<HTMLInputElement>(`input[name="${name}"]`);
  const [from, to] = [field("from"), field("to")];
  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const range: [number, number] = [Number(from?.value), Number(to?.value)];
    if (!(range[0] < range[1])) {
      to?.setCustomValidity("The end must lie after the beginning");
      form.reportValidity();
      return;
    }
    options.changed(range);
  });
  to?.addEventListener("input", () => to.setCustomValidity(""));
  const button = form.querySelector<HTMLButtonElement>("[data-whole]");
  button?.addEventListener("click", () => options.changed(null));
  return (shown, whole) => {
    if (button) button.disabled = whole;
    if (!shown || form.contains(document.activeElement)) return;
    if (from) from.value = String(Number(shown[0].toFixed(2)));
    if (to) to.value = String(Number(shown[1].toFixed(2)));
  };
}
