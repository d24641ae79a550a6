import { expect, test } from "vitest";
import { withTab } from "./tabs";

test("a tab is a parameter, the first one none, and the rest of the address stays", () => {
  const address = "http://host/compare/?side=a&side=b&workload=3&runs=5,6&level=4@100#seconds";
  expect(withTab(address, "limits", "results")).toBe(
    "http://host/compare/?side=a&side=b&workload=3&runs=5,6&level=4@100&tab=limits#seconds",
  );
  expect(withTab(withTab(address, "limits", "results"), "results", "results")).toBe(address);
});
