import { expect, test } from "vitest";
import { localTime, zoneName, zoneOffset } from "./time";

const moment = new Date("2026-11-20T23:05:09Z");

test("a time is shown in the reader's zone, which may be another day", () => {
  expect(localTime(moment, false, "Europe/Helsinki")).toBe("2026-11-21 01:05");
});

test("seconds are shown where they are asked for", () => {
  expect(localTime(moment, true, "UTC")).toBe("2026-11-20 23:05:09");
});

test("a time says its zone: by the offset at that moment, or UTC", () => {
  expect(zoneOffset(moment, "UTC")).toBe("UTC");
  expect(zoneOffset(moment, "Europe/Helsinki")).toBe("UTC+2");
  expect(zoneOffset(new Date("2026-07-01T00:00:00Z"), "Europe/Helsinki")).toBe("UTC+3");
  expect(zoneOffset(moment, "America/St_Johns")).toBe("UTC-3:30");
});

test("a column of times is headed by the zone's name", () => {
  expect(zoneName("Europe/Helsinki")).toBe("Europe/Helsinki");
  expect(zoneName("Etc/UTC")).toBe("UTC");
});
