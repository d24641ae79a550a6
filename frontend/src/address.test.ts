import { expect, test } from "vitest";
import { readView, writeView } from "./address";

const own = ["mysql.status.Questions", "mysql.status.Com_commit"];

test("a view comes back from its address as it was", () => {
  const view = { series: ["host.load.1m"], zoom: [2.5, 10] as [number, number] };
  expect(readView(writeView("", view, own))).toEqual(view);
});

test("the page's own choice needs no words in the address", () => {
  expect(writeView("?x=1", { series: [...own], zoom: null }, own)).toBe("?x=1");
  expect(readView("")).toEqual({ series: null, zoom: null });
});

test("choosing nothing is remembered", () => {
  expect(readView(writeView("", { series: [], zoom: null }, own)).series).toEqual([]);
});

test("a zoom that makes no sense is no zoom", () => {
  expect(readView("?from=9&to=3").zoom).toBeNull();
  expect(readView("?from=x&to=3").zoom).toBeNull();
});
