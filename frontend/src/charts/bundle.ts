// The custom Plotly bundle: the core (with SVG scatter) and the four other traces that pages draw.
import core from "plotly.js/lib/core";
import bar from "plotly.js/lib/bar";
import box from "plotly.js/lib/box";
import heatmap from "plotly.js/lib/heatmap";
import table from "plotly.js/lib/table";

core.register([bar, box, heatmap, table]);

export default core;
