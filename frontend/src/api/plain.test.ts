import { expect, test } from "vitest";
import { plainJson } from "./plain";

const read = (text: string): unknown => JSON.parse(plainJson(JSON.stringify(text)));

test("a tag and a template of Plotly are text", () => {
  expect(read("<a href='http://x'>%{y}</a>")).toBe("<\u200ba href='http://x'>%\u200b{y}<\u200b/a>");
  expect(JSON.parse(plainJson('"\\u003Cb\\u003E"'))).toBe("<\u200bb>");
});

test("what turns the direction or is not seen is written as an escape, white space stays", () => {
  expect(read("a\u202eb\u2066c\u0007d\te\n\b")).toBe("a\\u202eb\\u2066c\\u0007d\te\n\\u0008");
  expect(JSON.parse(plainJson('"\\u202E"'))).toBe("\\u202e");
});

test("a backslash that is text stays one", () => {
  for (const text of ["\\u202e", "\\\\u003c", "C:\\new", "\\"]) expect(read(text)).toBe(text);
});

test("numbers and other texts are as they were", () => {
  const value = { a: [1.5, null, true], "b c": "ü – 95 % ×", d: "host.disk.nvme0n1" };
  expect(JSON.parse(plainJson(JSON.stringify(value)))).toEqual(value);
});
