import { expect, test } from "vitest";
import type { Report } from "../../../api/types";
import { rowsOf, shownRows, withNotes } from "./gridRows";

function document(id: string, shares: [number | null, number | null], changes: object = {}) {
  return {
    document: id,
    name: `Station ${id}`,
    flips: 0,
    standing: [
      { candidate: "a", win_share: shares[0], score: null },
      { candidate: "b", win_share: shares[1], score: null },
    ],
    answers: [
      { candidate: "a", delivered: true, state: "succeeded", text: "# The tower\n\nIs high.", words: 4 },
      { candidate: "b", delivered: true, state: "succeeded", text: "A lamp.", words: 2 },
    ],
    verdicts: [],
    ...changes,
  };
}

const agreed = (judge: string, ab: string) => ({ judge, a: "a", b: "b", repeat: 1, fate: "agreed", ab });
const REPORT = {
  documents: [
    document("d1", [0.2, 0.8]),
    document("d2", [0.9, 0.1], { verdicts: [agreed("x", "first"), agreed("y", "second")] }),
    document("d3", [null, null], {
      flips: 1,
      verdicts: [{ ...agreed("x", "first"), fate: "flip" }],
      answers: [{ candidate: "a", delivered: false, state: "failed", text: null, words: 0 }],
    }),
  ],
} as unknown as Report;
const ROWS = rowsOf(REPORT, ["a", "b"]);
const PLAN = { by: undefined, isDescending: true };
const ids = (rows: readonly { document: string }[]) => rows.map((row) => row.document);

test("a cell holds the beginning of the answer and what is wrong with it", () => {
  expect(ROWS[0]?.cells[0]).toMatchObject({ beginning: "The tower Is high.", share: 0.2, flags: [] });
  expect(ROWS[2]?.cells[0]?.flags).toEqual(["flip", "failed"]);
});

test("an answer whose text found no room in the report is told from one that is not there", () => {
  const answers = [{ candidate: "a", delivered: true, state: "succeeded", text: null, words: 9 }];
  const cells = rowsOf({ documents: [document("d4", [0.5, 0.5], { answers })] } as unknown as Report, ["a", "b"])[0]
    ?.cells;
  expect(cells?.map(({ isLeftOut }) => isLeftOut)).toEqual([true, false]);
});

test("rows are filtered by flips, failures and judges who disagree", () => {
  expect(ids(shownRows(ROWS, "flips", "", PLAN))).toEqual(["d3"]);
  expect(ids(shownRows(ROWS, "failed", "", PLAN))).toEqual(["d3"]);
  expect(ids(shownRows(ROWS, "disagreement", "", PLAN))).toEqual(["d2"]);
});

test("words are found in names and answers", () => {
  expect(ids(shownRows(ROWS, "all", "station D2", PLAN))).toEqual(["d2"]);
  expect(ids(shownRows(ROWS, "all", "lamp", PLAN))).toEqual(["d1", "d2"]);
});

test("rows are sorted by a candidate's share, and those without one come last", () => {
  expect(ids(shownRows(ROWS, "all", "", { by: "a", isDescending: true }))).toEqual(["d2", "d1", "d3"]);
  expect(ids(shownRows(ROWS, "all", "", { by: "a", isDescending: false }))).toEqual(["d1", "d2", "d3"]);
});

test("what a person starred or noted is found", () => {
  const notes = new Map([
    ["d1 b", { starred: true, note: "" }],
    ["d2 a", { starred: false, note: "" }],
    ["d3 a", { starred: false, note: "Ask again." }],
  ]);
  const rows = withNotes(ROWS, notes);
  expect(rows[0]).not.toBe(ROWS[0]);
  expect(ids(shownRows(rows, "kept", "", PLAN))).toEqual(["d1", "d3"]);
  expect(ids(shownRows(rows, "all", "ask again", PLAN))).toEqual(["d3"]);
});
