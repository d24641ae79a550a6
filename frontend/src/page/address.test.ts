import { expect, test } from "vitest";
import { readView, writeView, type View } from "./address";

const plain: View = { series: null, zoom: null, over: "", totals: false, hidden: [] };
const own = ["mysql.status.Questions", "mysql.status.Com_commit"];

test("a view comes back from its address as it was", () => {
  const view: View = { series: ["host.load.1m"], zoom: [2.5, 10], over: "sum", totals: false, hidden: ["node_state"] };
  expect(readView(writeView("", view, own))).toEqual(view);
});

test("the page's own choice needs no words in the address", () => {
  expect(writeView("?x=1", { ...plain, series: [...own] }, own)).toBe("?x=1");
  expect(readView("")).toEqual(plain);
});

test("choosing nothing is remembered", () => {
  expect(readView(writeView("", { ...plain, series: [] }, own)).series).toEqual([]);
});

test("a zoom that makes no sense is no zoom", () => {
  expect(readView("?from=9&to=3").zoom).toBeNull();
  expect(readView("?from=x&to=3").zoom).toBeNull();
});
