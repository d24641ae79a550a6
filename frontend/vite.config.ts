import { readdirSync } from "node:fs";
import { defineConfig } from "vite";

// Every src/pages/**/*.page.ts is an entry; a template names it: {% vite_asset 'src/pages/runs/run.page.ts' %}.
const pages = readdirSync(new URL("src/pages", import.meta.url), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".page.ts"))
  .map((name) => `src/pages/${name}`);

export default defineConfig({
  base: "/static/",
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
