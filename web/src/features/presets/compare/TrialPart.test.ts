import { expect, test } from "vitest";
import type { GeneratedDocument, Task } from "../../../api/types";
import { formatsFor } from "../../../lib/format";
import { factsOf, sameOnes } from "./TrialPart";

const TASK = {
  started_at: "2026-11-23T12:00:00.000Z",
  finished_at: "2026-11-23T12:00:02.100Z",
  cost: "0.0021",
  attempts: 2,
} as Task;
const ANSWER = { tokens: { input: 1200, output: 80 } } as GeneratedDocument;
const formats = formatsFor("en", "UTC");

test("an answer comes with its time, its tokens, its cost and how often it was asked for", () => {
  expect(factsOf(TASK, ANSWER, formats)).toEqual(["2.1 s", "1,200 + 80 tokens", "$0.0021", "2 attempts"]);
});

test("an unknown cost is not passed off as nothing", () => {
  const facts = factsOf({ ...TASK, cost: null, attempts: 1 }, ANSWER, formats);
  expect(facts).toEqual(["2.1 s", "1,200 + 80 tokens", "cost unknown"]);
});

test("an answer that is there already is not shown as one that took no time", () => {
  expect(factsOf({ ...TASK, reused: true }, ANSWER, formats)).toEqual(["from an earlier try or run, not paid again"]);
});

test("candidates that gave the same answer are named together", () => {
  const tasks = ["lexrank", "lead", "submodular"].map((candidate) => ({ key: candidate, candidate }));
  const answers = new Map([
    ["lexrank", { body: "The import stops." }],
    ["lead", { body: "Mara writes." }],
    ["submodular", { body: "The import stops.\n" }],
  ]);
  expect(sameOnes(tasks, answers)).toEqual([["lexrank", "submodular"]]);
  expect(sameOnes(tasks, new Map())).toEqual([]);
});
