import { expect, test } from "vitest";
import { toCsv } from "./csv";

test("text with commas, quotes and line ends survives", () => {
  expect(toCsv(["a", "b"], [['say "x", y', "1\n2"]])).toBe('a,b\r\n"say ""x"", y","1\n2"\r\n');
});

test("text is no formula to a spreadsheet, and a negative number stays one", () => {
  expect(toCsv(["a"], [["=1+1"], ["@x"], ["-x"], [-1]])).toBe("a\r\n'=1+1\r\n'@x\r\n'-x\r\n-1\r\n");
});

test("what was not observed is an empty cell, not a zero", () => {
  expect(
    toCsv(
      ["t", "v"],
      [
        [0, null],
        [1, Number.NaN],
        [2, 0],
      ],
    ),
  ).toBe("t,v\r\n0,\r\n1,\r\n2,0\r\n");
});
