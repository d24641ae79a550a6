import { expect, test } from "vitest";
import { around, asked } from "./use_method";

test("an address may ask for a stretch of the clock", () => {
  expect(asked("/runs/7/?use=cpu.busy@g2&from=25&to=47#use")).toEqual([25, 47]);
  expect(asked("/runs/7/?use=cpu.busy@g2#use")).toBeNull();
});

test("a point of a small line is a second of the clock, and never before its beginning", () => {
  expect(around(0.5, [10, 110])).toEqual([50, 70]);
  expect(around(-1, [4, 64])).toEqual([0, 14]);
});
