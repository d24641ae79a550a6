import { expect, test } from "vitest";
import { choices, matching, type Choice } from "./picker";

function aChoice(metric: string, constant = false): Choice {
  return { metric, name: metric, unit: "1/s", constant, nodes: ["db1"] };
}

test("a metric on two nodes is one choice, constant only if it is on both", () => {
  const one = {
    metric: "mysql.status.Questions",
    name: "Questions",
    unit: "1/s",
    direction: "neutral",
    kind: "counter",
    resource: "server",
    aspect: "",
    mean: 1,
    minimum: 1,
    maximum: 1,
    resets: 0,
  };
  const found = choices([
    { ...one, node: "db1", constant: true },
    { ...one, node: "db2", constant: false },
  ]);
  expect(found).toEqual([{ metric: one.metric, name: one.name, unit: "1/s", constant: false, nodes: ["db1", "db2"] }]);
});

test("every typed word must be in the key or the name, in any order and case", () => {
  const all = [aChoice("mysql.status.Innodb_rows_read"), aChoice("mysql.status.Innodb_rows_inserted")];
  expect(matching(all, "READ innodb").map(({ metric }) => metric)).toEqual(["mysql.status.Innodb_rows_read"]);
});

test("names that start with the word come first, series that never changed last", () => {
  const all = [
    aChoice("mysql.status.Com_xa_commit", true),
    aChoice("mysql.status.Handler_commit"),
    aChoice("mysql.status.Commit_x"),
  ];
  expect(matching(all, "commit").map(({ metric }) => metric)).toEqual([
    "mysql.status.Commit_x",
    "mysql.status.Handler_commit",
    "mysql.status.Com_xa_commit",
  ]);
});

test("no more are offered than can be read", () => {
  const all = Array.from({ length: 100 }, (_, number) => aChoice(`host.vmstat.v${number}`));
  expect(matching(all, "")).toHaveLength(30);
});
