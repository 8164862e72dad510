import { expect, test } from "vitest";
import { niceEnd } from "./axis";

test("an axis ends where its quarters are round numbers, at or above what it shows", () => {
  for (const [value, end] of [
    [0.0017, 0.002],
    [0.341, 0.4],
    [56, 60],
    [0.9, 1],
    [0, 1],
  ] as const) {
    expect(niceEnd(value)).toBeCloseTo(end, 9);
    expect(niceEnd(value)).toBeGreaterThanOrEqual(value);
  }
});
