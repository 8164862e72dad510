import { expect, test } from "vitest";
import { beginOf, withFront } from "./QualityChart";

test("the front are those whom nobody beats for less", () => {
  const point = (name: string, x: number, y: number) => ({ name, number: 0, x, y, reach: [0, 0] as [number, number] });
  const front = withFront([
    point("cheap", 1, 0.4),
    point("best", 5, 0.9),
    point("dear", 6, 0.8),
    point("poor", 2, 0.4),
  ]);
  expect(front.filter((one) => one.isFront).map((one) => one.name)).toEqual(["cheap", "best"]);
});

test("an axis of lengths begins at its middle where nothing is below that", () => {
  expect([beginOf(65, 80), beginOf(40, 80), beginOf(3, 80), beginOf(Infinity, 1)]).toEqual([40, 0, 0, 0]);
});
