// Charts that the server drew: each can be saved as it stands on the screen.

/** Puts a button into every `data-image` holder of a figure. */
export function saveButtons(): void {
  for (const holder of document.querySelectorAll<HTMLElement>("[data-image]")) {
    const figure = holder.closest<HTMLElement>("figure");
    if (!figure) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button button--quiet button--small";
    button.textContent = "PNG";
    button.title = "Save the chart as a PNG image";
    button.addEventListener("click", () => void save(button, figure, holder.dataset["image"] ?? "chart"));
    holder.append(button);
  }
}

async function save(button: HTMLButtonElement, figure: HTMLElement, name: string): Promise<void> {
  button.disabled = true;
  try {
    const { domToPng } = await import("modern-screenshot");
    const link = document.createElement("a");
    link.download = `${name}.png`;
    link.href = await domToPng(figure, {
      style: { margin: "0" },
      filter: (node) => !(node instanceof HTMLElement && node.matches(".tools")),
    });
    link.click();
  } finally {
    button.disabled = false;
  }
}
