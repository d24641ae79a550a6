// Plotly with lines and bars, built by its makers: from its sources, the packages would be ten times as many.
export { default } from "plotly.js-basic-dist-min";
