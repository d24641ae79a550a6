import { expect, test } from "vitest";
import { palette } from "../../charts/palette.fixture";
import type { FindingChart } from "../../api/types.gen";
import { findingChart, findingRows, shortened } from "./finding_chart";

const run = (id: number, value: number, note = "") => ({ id, value, note, text: `run ${id}: ${value}` });

const chart: FindingChart = {
  metric_name: "throughput",
  unit: "transactions/s",
  axis: {
    range: [800, 1050],
    ticks: [800, 900, 1000],
    texts: ["800", "900", "1,000"],
    begins_at: "800 transactions/s",
  },
  sides: [
    { title: "MariaDB 10.11.19", tone: 3, runs: [run(1, 1000), run(2, 1010)], level: 1005, level_text: "1,000" },
    { title: "MariaDB 10.11.20", tone: 11, runs: [run(3, 880, "failed: generator")], level: null, level_text: "" },
  ],
  band: [1000, 1010],
};

const drawn = (given: Partial<FindingChart> = {}, width = 700) => findingChart({ ...chart, ...given }, width, palette);

test("every run stands on its side with its value and its words, and opens its page", () => {
  const [, before, , after] = drawn().traces as { x: number[] }[];
  expect(before).toMatchObject({
    y: [1000, 1010],
    customdata: ["/runs/1/", "/runs/2/"],
    text: ["run 1: 1000", "run 2: 1010"],
  });
  expect(before?.x.every((x) => x > 0 && x < 1)).toBe(true);
  expect(after).toMatchObject({ x: [1.5], y: [880] });
});

test("a run that is doubted is hollow", () => {
  expect(drawn().traces[3]).toMatchObject({
    marker: { color: [palette.surface], line: { color: [palette.sides[11]] } },
  });
  expect(drawn().traces[1]).toMatchObject({ marker: { color: [palette.sides[3], palette.sides[3]] } });
});

test("each side has a line at its level, and none where it is unknown", () => {
  expect(drawn().traces[0]).toMatchObject({ y: [1005, 1005] });
  expect(drawn().traces[2]).toMatchObject({ y: [] });
});

test("the axes name sides with their levels, quantity and unit", () => {
  const { layout } = drawn();
  expect(layout?.xaxis?.ticktext).toEqual(["MariaDB 10.11.19<br><b>1,000</b>", "MariaDB 10.11.20"]);
  expect(layout?.yaxis).toMatchObject({ range: [800, 1050], title: { text: "throughput, transactions/s" } });
});

test("the band and the sign of a broken axis are drawn where there are such", () => {
  expect(drawn().layout?.shapes).toMatchObject([{ y0: 1000, y1: 1010, fillcolor: palette.shade }, { type: "path" }]);
  const whole = { ...chart.axis, begins_at: "" };
  expect(drawn({ band: null, axis: whole }).layout?.shapes).toEqual([]);
});

test("a long name is shortened to its half", () => {
  expect(shortened("a long name", 7)).toBe("a long…");
  expect(drawn({}, 140).layout?.xaxis?.ticktext?.[1]).toBe("MariaDB 1…");
});

test("the data name side and run", () => {
  expect(findingRows(chart).rows[2]).toEqual(["after: MariaDB 10.11.20", 3, 880, "failed: generator"]);
});
