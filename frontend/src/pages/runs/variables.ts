// The list of server variables, which comes when it is opened: rows with all the words that are typed.
export function mountVariables(): void {
  document.querySelector("#variables")?.addEventListener("input", (event) => {
    if (!(event.target instanceof HTMLInputElement) || event.target.id !== "variables-filter") return;
    const words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of document.querySelectorAll<HTMLElement>("#variables tbody tr")) {
      const text = row.textContent?.toLowerCase() ?? "";
      row.hidden = !words.every((word) => text.includes(word));
    }
  });
}
