// Colours for tests.
import type { Palette } from "./style";

export const palette: Palette = {
  ink: "#111111",
  muted: "#555555",
  line: "#dddddd",
  surface: "#ffffff",
  shade: "rgba(0,0,0,0.1)",
  chosen: "#e6f0f8",
  better: "#116329",
  worse: "#b3261e",
  sides: ["#0072b2", "#d55e00", ...Array.from({ length: 30 }, (_, place) => `#0000${(place + 16).toString(16)}`)],
  font: "sans-serif",
};
