// The parts of the Compare page: each draws its own charts once its HTML is there, at once or when htmx brought it.
import "../../styles/compare/use_method.css";
import { pageData } from "../../api/client";
import { mountLatency } from "../../charts/latency/mount_latency";
import { drawWithin } from "./answer";
import { mount as limits, watch as watchLimits } from "./limits/limits";
import { mount as loadLevels } from "./load_levels";
import { mount as seconds } from "./seconds";
import { mount as steadiness } from "./steadiness";
import { mount as work } from "./work";

type Mount = (root: HTMLElement) => void;

// Id of the part's section -> what makes it live.
const MOUNTS: Record<string, Mount> = {
  results: drawWithin,
  latency: (root) => {
    drawWithin(root);
    if (document.getElementById("latency-data")) mountLatency(pageData("latency-data"), "compare-latency");
  },
  ladder: loadLevels,
  seconds,
  steadiness,
  use: limits,
  work,
};

function mountWithin(root: Element): void {
  for (const [name, mount] of Object.entries(MOUNTS)) {
    const part = root.id === name ? root : root.querySelector(`[id="${name}"]`);
    if (!(part instanceof HTMLElement) || part.dataset["mounted"] || part.matches(".compare-part")) continue;
    part.dataset["mounted"] = "true";
    mount(part);
  }
}

/** Mounts what is there, and every part that comes. */
export function mountParts(): void {
  watchLimits();
  mountWithin(document.body);
  document.addEventListener("htmx:load", (event) => {
    if (event.target instanceof Element) mountWithin(event.target);
  });
}
