import { expect, test } from "vitest";
import type { Figures } from "../../../api/types";
import { counted, gridOf, rowOf, shownDocuments, type Wanted } from "./gridRows";

function candidate(name: string, shares: (number | null)[], changes: Partial<Figures["candidates"][number]> = {}) {
  const none = { awaited: [], failed: [], cut_off: [], flipped: [], score: [], checks: [] };
  return { candidate: name, win_share: shares, ...none, ...changes };
}
const FIGURES: Figures = {
  documents: 3,
  candidates: [
    candidate("a", [0.2, 0.9, null], { failed: [3], flipped: [3] }),
    candidate("b", [0.8, 0.1, null], { checks: [1, 0.5, 1] }),
  ],
  flips: [0, 0, 1],
  disagreements: [2],
};
const GRID = gridOf(FIGURES, ["b", "a"]);
const NONE = new Map();
const PLAN: Wanted = {
  filter: "all",
  words: "",
  found: undefined,
  sorting: { by: undefined, isDescending: true },
};
const shown = (wanted: Partial<Wanted>, notes = NONE) => shownDocuments(GRID, notes, { ...PLAN, ...wanted });

test("a cell holds the beginning of the answer and what is wrong with it", () => {
  const beginnings = {
    document: 1,
    name: "One",
    question: "How\nhigh?",
    answers: ["# C#: `order_status`\n\n2*3", null],
    checks: [[1, 0], []],
  };
  const row = rowOf(GRID, 1, beginnings, NONE);
  expect([row.name, row.question]).toEqual(["One", "How high?"]);
  expect(row.cells.map((cell) => cell.candidate)).toEqual(["b", "a"]);
  expect(row.cells[1]).toMatchObject({ beginning: "# C#: `order_status` 2*3", share: 0.2, flags: [], marks: [1, 0] });
  expect(rowOf(GRID, 3, undefined, NONE)).toMatchObject({
    name: undefined,
    cells: [{}, { flags: ["flip", "failed"] }],
  });
});

test("documents are filtered by flips, failures, checks and judges who disagree, and counted", () => {
  expect(shown({ filter: "flips" })).toEqual([3]);
  expect(shown({ filter: "failed" })).toEqual([3]);
  expect(shown({ filter: "checks" })).toEqual([2]);
  expect(shown({ filter: "disagreement" })).toEqual([2]);
  expect(counted(GRID, NONE)).toEqual({ all: 3, flips: 1, failed: 1, checks: 1, disagreement: 1, kept: 0 });
});

test("documents are sorted by a candidate's share, and those without one come last", () => {
  expect(shown({ sorting: { by: "a", isDescending: true } })).toEqual([2, 1, 3]);
  expect(shown({ sorting: { by: "a", isDescending: false } })).toEqual([1, 2, 3]);
});

test("what was found, starred or noted is shown", () => {
  const notes = new Map([
    ["d1 b", { starred: true, note: "" }],
    ["d2 a", { starred: false, note: "" }],
    ["d3 a", { starred: false, note: "Ask again." }],
  ]);
  expect(shown({ filter: "kept" }, notes)).toEqual([1, 3]);
  expect(shown({ words: "ask again", found: [2] }, notes)).toEqual([2, 3]);
});
