import { expect, test } from "vitest";
import { reasonOf, staleWords } from "./failures";

const at = (time: string): Date => new Date(`2026-11-29T${time}:00Z`);

test("what is old says since when and why", () => {
  const reason = "The server cannot be reached";
  expect(staleWords(at("12:03"), reason, at("12:09"), "UTC")).toBe(
    "Not renewed since 12:03: the server cannot be reached.",
  );
  expect(staleWords(new Date("2026-11-28T12:03:00Z"), "503", at("12:09"), "UTC")).toBe(
    "Not renewed since 2026-11-28 12:03: 503.",
  );
});

test("the reason is in the server's own words, if it has any", () => {
  expect(reasonOf(0, "")).toBe("the server cannot be reached");
  expect(reasonOf(503, "The server is busy")).toBe("The server is busy");
  expect(reasonOf(502, "")).toBe("the server answered 502");
});
