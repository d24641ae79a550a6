import { expect, test } from "vitest";
import { palette } from "./palette.fixture";
import { axis, COLORS, houseLayout, publishedMarker, sideColor, sideDash, toneOf } from "./style";

test("an axis names its quantity and unit, and says when it is logarithmic", () => {
  expect(axis("Throughput", "transactions/s").title).toEqual({ text: "Throughput, transactions/s" });
  expect(axis("Threads", "", { type: "log" }).title).toEqual({ text: "Threads (log scale)" });
});

test("sides take their colours in order", () => {
  expect([sideColor(palette, 0), sideColor(palette, 1)]).toEqual(["#0072b2", "#d55e00"]);
});

test("the lines of a platform are tones of its colour, and differ by their dashes", () => {
  const tones = [0, 1, 2].map((place) => toneOf(1, place));
  expect(tones.map((tone) => tone % COLORS)).toEqual([1, 1, 1]);
  expect(new Set(tones.map((tone) => sideColor(palette, tone))).size).toBe(3);
  expect(tones.map(sideDash)).toEqual(["solid", "dash", "dot"]);
});

test("published bars are hatched", () => {
  expect(publishedMarker("#0072b2")).toMatchObject({ pattern: { shape: "/" } });
});

test("the house style keeps what a chart asks for", () => {
  const layout = houseLayout(palette, { xaxis: axis("Time", "s", { range: [0, 60] }), yaxis2: axis("Latency", "ms") });
  expect(layout.xaxis).toMatchObject({ range: [0, 60], gridcolor: "#dddddd", title: { text: "Time, s" } });
  expect(layout.yaxis2).toMatchObject({ gridcolor: "#dddddd", title: { text: "Latency, ms" } });
  expect(layout.yaxis).toMatchObject({ separatethousands: true });
});
