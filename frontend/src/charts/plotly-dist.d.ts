// The built bundle ships no types; it has the shape of the whole.
declare module "plotly.js-basic-dist-min" {
  import * as Plotly from "plotly.js";
  const plotly: typeof Plotly;
  export default plotly;
}
