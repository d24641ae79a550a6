import { expect, test } from "vitest";
import { stepped, wanted } from "./triage";

const pressed = (key: string, more: object = {}) =>
  wanted({ key, ctrlKey: false, metaKey: false, altKey: false, target: null, ...more });

test("keys of triage are heard, others are left to the browser", () => {
  expect(pressed("j")).toBe("j");
  expect(pressed("?")).toBe("?");
  expect(pressed("x")).toBe("");
  expect(pressed("c", { ctrlKey: true })).toBe("");
});

test("who types is not triaging", () => {
  for (const tagName of ["INPUT", "select", "TEXTAREA"])
    expect(pressed("a", { target: { tagName } as unknown as EventTarget })).toBe("");
  expect(pressed("a", { target: { tagName: "A" } as unknown as EventTarget })).toBe("a");
});

test("a list begins at its first and ends at its last", () => {
  expect(stepped(-1, 1, 3)).toBe(0);
  expect(stepped(-1, -1, 3)).toBe(0);
  expect(stepped(0, 1, 3)).toBe(1);
  expect(stepped(2, 1, 3)).toBe(2);
  expect(stepped(0, -1, 3)).toBe(0);
});
