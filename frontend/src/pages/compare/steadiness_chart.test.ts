import { expect, test } from "vitest";
import { palette } from "../../charts/palette.fixture";
import type { SpreadBox, SteadinessChart } from "../../api/types.gen";
import { places, steadinessChart, steadinessRows } from "./steadiness_chart";

function box(side: number, run: number | null, p50: number): SpreadBox {
  const label = run === null ? "2 runs together" : `run ${run}`;
  return {
    side,
    label,
    run,
    runs: run === null ? 2 : 1,
    doubted: run === 3,
    box: { least: p50 / 2, p5: p50 - 2, p25: p50 - 1, p50, p75: p50 + 1, p95: p50 + 2, greatest: p50 * 2 },
  };
}

const data: SteadinessChart = {
  level: "4",
  name: "throughput",
  unit: "transactions/s",
  sides: [
    { slug: "a", name: "Alpha", position: 0, tone: 0 },
    { slug: "b", name: "Beta", position: 1, tone: 1 },
  ],
  boxes: [box(0, null, 100), box(0, 1, 99), box(0, 2, 101), box(1, null, 50), box(1, 3, 50)],
};

test("sides stand apart, runs beside each other", () => {
  expect(places(data.boxes)).toEqual([1, 2, 3, 5, 6]);
});

test("every box is drawn from the quantiles that the server gave, in its side's colour", () => {
  const { traces } = steadinessChart(data, palette);
  const runs = traces[1] as unknown as { x: (number | null)[]; y: (number | null)[]; line: { color: string } };
  const [first, second] = [runs.y.slice(0, 21), runs.y.slice(21)];
  // The box, its median, both whiskers and their ends.
  expect(first).toEqual(
    [
      [98, 98, 100, 100, 98],
      [99, 99],
      [100, 101],
      [98, 97],
      [101, 101],
      [97, 97],
    ].flatMap((line) => [...line, null]),
  );
  expect(second.slice(0, 5)).toEqual([100, 100, 102, 102, 100]);
  expect(runs.x.slice(0, 5)).toEqual([1.75, 2.25, 2.25, 1.75, 1.75]);
  expect(runs.line.color).toBe(palette.sides[0]);
});

test("the lowest and the highest value are kept, and the axis begins at zero", () => {
  const { traces, layout } = steadinessChart(data, palette);
  const ends = traces[2] as unknown as { y: number[] };
  expect(ends.y.slice(0, 3)).toEqual([50, 100, 200]);
  expect((layout?.yaxis?.range as number[])[0]).toBe(0);
  expect((layout?.yaxis?.range as number[])[1]).toBeGreaterThan(200);
});

test("every box has its label, the last one too", () => {
  const { xaxis } = steadinessChart(data, palette).layout ?? {};
  expect(xaxis?.ticktext).toHaveLength(data.boxes.length);
  expect(xaxis).toMatchObject({ tickvals: places(data.boxes), ticklabeloverflow: "allow" });
});

test("boxes of runs and of sides differ in the data", () => {
  const { header, rows } = steadinessRows(data);
  expect(header).toContain("median, transactions/s");
  expect(rows.map((row) => row[1])).toEqual(["all together", 1, 2, "all together", 3]);
});
