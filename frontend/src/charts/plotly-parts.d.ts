// plotly.js ships no types for its parts; the core has the shape of the whole.
declare module "plotly.js/lib/core" {
  import * as Plotly from "plotly.js";
  const core: typeof Plotly & { register(modules: object[]): void };
  export default core;
}
declare module "plotly.js/lib/bar" {
  const trace: object;
  export default trace;
}
declare module "plotly.js/lib/box" {
  const trace: object;
  export default trace;
}
declare module "plotly.js/lib/heatmap" {
  const trace: object;
  export default trace;
}
declare module "plotly.js/lib/table" {
  const trace: object;
  export default trace;
}
