import { expect, test } from "vitest";
import { sortedPlaces } from "./sort";

const inOrder = (texts: string[], descending = false): string[] =>
  sortedPlaces(texts, descending).map((place) => texts[place] ?? "");

test("numbers are sorted by value, and missing ones are last in either direction", () => {
  const texts = ["1,230", "not observed", "99.5", "−3"];
  expect(inOrder(texts)).toEqual(["−3", "99.5", "1,230", "not observed"]);
  expect(inOrder(texts, true)).toEqual(["1,230", "99.5", "−3", "not observed"]);
});

test("versions and numbered names are sorted by their numbers, and a name that begins with no is no missing value", () => {
  const versions = ["10.11.19", "10.6.22", "10.6", "8.0.46-37"];
  expect(inOrder(versions)).toEqual(["8.0.46-37", "10.6", "10.6.22", "10.11.19"]);
  expect(inOrder(["Run 100", "Run 99", "Run 9"])).toEqual(["Run 9", "Run 99", "Run 100"]);
  expect(inOrder(["not measured", "node-3", "node-12", "db1"])).toEqual(["db1", "node-3", "node-12", "not measured"]);
});

test("load levels are sorted by their threads, names by letters", () => {
  expect(inOrder(["128 threads", "8 threads", "16 threads"])).toEqual(["8 threads", "16 threads", "128 threads"]);
  expect(inOrder(["PXC", "aurora", "3-node MHA"])).toEqual(["3-node MHA", "aurora", "PXC"]);
});
