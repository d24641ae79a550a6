import { expect, test } from "vitest";
import { localTime } from "./time";

const moment = new Date("2026-11-20T23:05:09Z");

test("a time is shown in the reader's zone, which may be another day", () => {
  expect(localTime(moment, false, "Europe/Helsinki")).toBe("2026-11-21 01:05");
});

test("seconds are shown where they are asked for", () => {
  expect(localTime(moment, true, "UTC")).toBe("2026-11-20 23:05:09");
});
