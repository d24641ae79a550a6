import { readdirSync } from "node:fs";
import { defineConfig } from "vite";

// Every src/pages/**/*.page.ts is an entry; a template names it: {% vite_asset 'src/pages/runs/run.page.ts' %}.
const pages = readdirSync(new URL("src/pages", import.meta.url), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".page.ts"))
  .map((name) => `src/pages/${name}`);

// Plotly's built file is one function within another, which a browser parses again at each level. Its modules at
// the top of a file take a third of the time.
const PLOTLY = /^[^]*?"use strict";var Plotly=\(\(\)=>\{([^]*)return ([\w$]+\(\));?\}\)\(\);[^]*$/;
const unwrapPlotly = {
  name: "unwrap-plotly",
  transform(code: string, id: string) {
    if (!id.includes("plotly.js-basic-dist-min")) return null;
    const inner = PLOTLY.exec(code);
    if (!inner) throw new Error(`${id} has another form than vite.config.ts knows`);
    return { code: `${inner[1]}export default ${inner[2]};`, map: null };
  },
};

export default defineConfig({
  base: "/static/",
  plugins: [unwrapPlotly],
  build: {
    manifest: "manifest.json",
    target: "es2022",
    // htmx can evaluate code in attributes; shell.ts turns that off.
    rolldownOptions: { checks: { eval: false }, input: ["src/shell.ts", ...pages] },
    // Plotly is one lazily loaded chunk of about a megabyte: pages without charts never fetch it.
    chunkSizeWarningLimit: 1300,
  },
  test: { include: ["src/**/*.test.ts"], environment: "node" },
});
