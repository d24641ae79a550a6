// Plotly with the traces of two axes, built by its makers: from its sources, the packages would be ten times as many.
export { default } from "plotly.js-cartesian-dist-min";
