// A button with data-fills ("name=value&…") writes these values into the fields of the page with these names.
export function mountFilling(): void {
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-fills]") : null;
    for (const [name, value] of new URLSearchParams(button?.dataset["fills"])) {
      const field = document.querySelector<HTMLInputElement>(`input[name="${CSS.escape(name)}"]`);
      if (!field) continue;
      field.value = value;
      field.dispatchEvent(new Event("change", { bubbles: true }));
    }
  });
}
