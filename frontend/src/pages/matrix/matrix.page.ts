// The matrix as an image: what stands on the screen, also where it scrolls.
import "../../styles/matrix.css";

const figure = document.querySelector<HTMLElement>("#matrix");

for (const button of document.querySelectorAll<HTMLButtonElement>("[data-matrix-png]")) {
  if (!figure) continue;
  button.hidden = false;
  button.addEventListener("click", () => void save(button, figure));
}

async function save(button: HTMLButtonElement, shown: HTMLElement): Promise<void> {
  button.disabled = true;
  try {
    const { domToPng } = await import("modern-screenshot");
    // Where nothing scrolls, cells keep the widths, and so the line breaks, that they have on the screen.
    const scrolls = [...shown.querySelectorAll(".matrix__scroll")].some((each) => each.scrollWidth > each.clientWidth);
    shown.classList.toggle("matrix--whole", scrolls);
    const link = document.createElement("a");
    link.download = "matrix.png";
    link.href = await domToPng(shown, { style: { margin: "0" } });
    link.click();
  } finally {
    shown.classList.remove("matrix--whole");
    button.disabled = false;
  }
}
