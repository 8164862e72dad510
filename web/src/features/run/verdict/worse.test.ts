import { expect, test } from "vitest";
import type { Figures } from "../../../api/types";
import { worseOn } from "./worse";

const candidate = (name: string, win_share: (number | null)[], checks: number[] = []) => ({
  ...{ candidate: name, win_share, checks, score: [], awaited: [], failed: [], cut_off: [], flipped: [] },
});
const of = (...candidates: ReturnType<typeof candidate>[]): Figures => ({
  ...{ documents: 4, candidates, flips: [], disagreements: [] },
});

test.each([
  ["shares of pairs", of(candidate("a", [0.6, 1, null, 0.2]), candidate("b", [0.4, 0, null, 0.8])), [2, 1]],
  ["checks where nobody judged", of(candidate("a", [], [1, 1, 0, 1]), candidate("b", [], [0.5, 1, 1, 0])), [4, 1]],
  ["nobody of that name", of(candidate("a", [1])), []],
])("the documents on which the other one is worse come worst first: %s", (_, figures, documents) => {
  expect(worseOn(figures, "a", "b").map(({ document }) => document)).toEqual(documents);
});
