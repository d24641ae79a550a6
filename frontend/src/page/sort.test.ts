import { expect, test } from "vitest";
import { sortedPlaces } from "./sort";

const inOrder = (texts: string[], descending = false): string[] =>
  sortedPlaces(texts, descending).map((place) => texts[place] ?? "");

test("numbers are sorted by value, and missing ones are last in either direction", () => {
  const texts = ["1,230", "not observed", "99.5", "−3"];
  expect(inOrder(texts)).toEqual(["−3", "99.5", "1,230", "not observed"]);
  expect(inOrder(texts, true)).toEqual(["1,230", "99.5", "−3", "not observed"]);
});

test("load levels are sorted by their threads, names by letters", () => {
  expect(inOrder(["128 threads", "8 threads", "16 threads"])).toEqual(["8 threads", "16 threads", "128 threads"]);
  expect(inOrder(["PXC", "aurora", "3-node MHA"])).toEqual(["3-node MHA", "aurora", "PXC"]);
});
