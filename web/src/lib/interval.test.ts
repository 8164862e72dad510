import { expect, test } from "vitest";
import type { Ranking, Row } from "../api/types";
import { barOf, measureOf } from "./interval";

const ROW = {
  candidate: "a",
  win_share: 0.6,
  low: 0.4,
  high: 0.9,
  score: 0.3,
  score_low: 0.1,
  score_high: null,
} as Row;

test("a run that only scores is shown by its scores", () => {
  expect(measureOf({ basis: "scores" } as Ranking, ROW)).toEqual({ value: 0.3, low: 0.1, high: null });
  expect(measureOf({ basis: "comparisons" } as Ranking, ROW)).toEqual({ value: 0.6, low: 0.4, high: 0.9 });
});

test("the interval of whoever is first begins where it allows for the luck of being first", () => {
  expect(measureOf({ basis: "comparisons" } as Ranking, { ...ROW, first_low: 0.35 })?.low).toBe(0.35);
});

test("a candidate that took part in nothing has no bar", () => {
  expect(measureOf({ basis: "comparisons" } as Ranking, { candidate: "b" })).toBeUndefined();
});

test("nothing is drawn beyond the ends of the scale", () => {
  expect(barOf({ value: 1.2, low: -0.5, high: null })).toEqual({ at: 100, low: 0, high: undefined });
});
