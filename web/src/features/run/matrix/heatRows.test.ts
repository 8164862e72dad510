import { expect, test } from "vitest";
import type { Figures } from "../../../api/types";
import { columnsOf, measuresIn } from "./heatRows";

const NONE = { awaited: [], failed: [], cut_off: [], flipped: [], win_share: [], score: [] };
const FIGURES: Figures = {
  documents: 3,
  candidates: [
    { ...NONE, candidate: "a", win_share: [0.2, null, 0.5], checks: [] },
    { ...NONE, candidate: "b", win_share: [0.8, 1, 0.5], checks: [1, 0, 1] },
  ],
  flips: [],
  disagreements: [],
};

test("the matrix offers what there are figures of", () => {
  expect(measuresIn(FIGURES)).toEqual(["win_share", "checks"]);
  expect(measuresIn({ ...FIGURES, candidates: [] })).toEqual([]);
});

test("columns follow the ranking and know the range of their values", () => {
  const found = columnsOf(FIGURES, ["b", "a", "gone"], "win_share");
  expect(found.columns.map(({ candidate }) => candidate)).toEqual(["b", "a"]);
  expect([found.low, found.high]).toEqual([0.2, 1]);
});
