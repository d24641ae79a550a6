import { expect, test } from "vitest";
import { cardParts, step } from "./board_card";

const cell = {
  title: "18 Nov 2025, 8.0.35: −19 % [−21 %, −18 %] inconclusive\nlower alone, but not after correction",
  dataset: { value: "948 transactions/s", runs: "5 runs", compare: "/compare/?side=a&side=b" },
};
const row = { name: "oltp, 4 threads", metric: "throughput, transactions/s", url: "/trends/3/" };

test("a card says change, interval and reason apart from the column, and leads to finding, series and comparison", () => {
  const flag = {
    href: "/findings/1/",
    textContent: "⚑1",
    dataset: { state: "confirmed", why: "the finding judges a step" },
  };
  const parts = cardParts(row, cell, [flag]);
  expect(parts.map((part) => part.text)).toEqual([
    "oltp, 4 threads",
    "18 Nov 2025, 8.0.35 · throughput, transactions/s",
    "−19 % [−21 %, −18 %] inconclusive",
    "948 transactions/s",
    "5 runs",
    "lower alone, but not after correction",
    "Finding 1, confirmed",
    "the finding judges a step",
    "Open series",
    "Compare with the baseline",
  ]);
  expect(parts.flatMap((part) => part.href ?? [])).toEqual(["/findings/1/", "/trends/3/", "/compare/?side=a&side=b"]);
});

test("arrow keys move among cells, up and down by the distance to the newest", () => {
  const rows = [
    [1, 2, 3],
    [4, 5],
  ];
  expect(step(rows, 2, "ArrowLeft")).toBe(1);
  expect(step(rows, 3, "ArrowRight")).toBeUndefined();
  expect(step(rows, 2, "ArrowDown")).toBe(4);
  expect(step(rows, 5, "ArrowUp")).toBe(3);
  expect(step(rows, 1, "End")).toBe(3);
  expect(step(rows, 1, "x")).toBeUndefined();
});
