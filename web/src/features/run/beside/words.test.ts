/** The sentences about two runs never say more than the interval does. */
import { expect, test } from "vitest";
import type { Against, AgainstRow, PairedDifference } from "../../../api/types";
import { formatsFor } from "../../../lib/format";
import type { Part } from "../../../lib/sentence";
import { changesOf, differenceOf, doubtOf, toldOf } from "./words";

const FORMATS = formatsFor("en", "UTC");
const plain = (parts: readonly Part[] = []) =>
  parts.map((part) => (typeof part === "string" ? part : `<${part.candidate}>`)).join("");
const NONE = { here: [], there: [] };
const CHANGES: Against["changes"] = {
  ...{ instructions: [], models: [], parameters: [], candidates: NONE, judges: NONE, changed_judges: [] },
  ...{ questions: [], criteria: NONE, changed_criteria: [], documents_only_here: 0, documents_only_there: 0 },
};
const STANDING = { place: 1, win_share: 0.6, low: 0.4, high: 0.8, score: 0.7, cost_per_answer: null };

function against(facts: Partial<Against>): Against {
  return { scale: "score", changes: CHANGES, no_win_share: null, ...facts } as Against;
}

function told(found: Partial<PairedDifference>, scale: "score" | "win_share" = "score") {
  const difference: PairedDifference = {
    ...{ difference: 0.12, low: 0.02, high: 0.22, documents: 12, independent: 12, outcome: "better" },
    ...found,
  };
  const row: AgainstRow = {
    ...{ candidate: "mini", here: STANDING, there: STANDING },
    ...{ score: scale === "score" ? difference : null, win_share: scale === "win_share" ? difference : null },
  };
  const words = toldOf(row, against({ scale }), FORMATS);
  return { sentence: plain(words?.sentence), figures: words?.figures };
}

test("a difference is called one only if the service calls it one", () => {
  expect(told({})).toEqual({
    sentence: "<mini> scores higher here.",
    figures: "+0.12 (+0.02 to +0.22) on a scale from 0 to 1, on 12 documents",
  });
  expect(told({ outcome: "worse", difference: -0.1 }, "win_share").sentence).toBe(
    "<mini> is preferred less often here.",
  );
  expect(told({ outcome: "undecided", low: -0.1 }).sentence).toBe("<mini>: no difference can be told from chance.");
  expect(told({ outcome: "undecided", low: null, high: null, documents: 1 })).toEqual({
    sentence: "One document, or one group of documents, does not tell how <mini> differs.",
    figures: "+0.12 on a scale from 0 to 1, on 1 document",
  });
});

test("a candidate of one run has no sentence, and one without a figure on shared documents says so", () => {
  const row: AgainstRow = { candidate: "mini", here: STANDING, there: null, score: null, win_share: null };
  expect(toldOf(row, against({}), FORMATS)).toBeUndefined();
  expect(plain(toldOf({ ...row, there: STANDING }, against({}), FORMATS)?.sentence)).toBe(
    "No document in both has a figure of <mini>.",
  );
});

test("a difference keeps its sign, also where it is small", () => {
  expect(differenceOf(-0.25, "score", FORMATS)).toBe("−0.25");
  expect(differenceOf(0.003, "score", FORMATS)).toBe("+0.003");
  expect(differenceOf(0.123, "win_share", FORMATS)).toBe("+12");
  expect(differenceOf(-0.004, "win_share", FORMATS)).toBe("−0.4");
  expect(differenceOf(0, "score", FORMATS)).toBe("0.00");
});

test("what changed is told line by line, and other judging is a doubt", () => {
  const changes: Against["changes"] = {
    ...CHANGES,
    models: [{ candidate: "mini", here: "openai:a", there: null }],
    parameters: ["mini", "large"],
    candidates: { here: ["new"], there: [] },
    judges: { here: ["x"], there: ["y", "z"] },
    changed_criteria: ["clarity"],
    documents_only_here: 1,
    documents_only_there: 1200,
  };
  expect(changesOf(against({ changes }), FORMATS).map(plain)).toEqual([
    "<mini>: openai:a here, existing answers there.",
    "Other parameters: <mini> and <large>.",
    "Candidates only here: <new>.",
    "Judges only here: x.",
    "Judges only there: y and z.",
    "Criteria with another meaning, weight or scale: clarity.",
    "1 document is only here.",
    "1,200 documents are only there.",
  ]);
  expect(doubtOf(against({ changes }))).toBe(
    "Other things differ too: the judges and the criteria. A difference between the two may come from them.",
  );
  expect(doubtOf(against({}))).toBe("");
  expect(doubtOf(against({ scale: "win_share" }))).toContain("when another candidate becomes worse");
});
