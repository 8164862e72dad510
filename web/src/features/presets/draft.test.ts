import { expect, test } from "vitest";
import type { ContentSummary, Model, PresetIn } from "../../api/types";
import { emptyDraft, faultsOf, freeLabel } from "./draft";

const MODELS = [
  { model: "local:lead", roles: ["generate"], available: true, reason: null },
  { model: "local:reader", roles: ["judge"], available: true, reason: null },
  { model: "openai:big", roles: ["generate", "judge"], available: false, reason: "No key is stored." },
] as Model[];
const KNOWN = { models: MODELS, documents: [{ id: "d1" }] as ContentSummary[] };

const GOOD: PresetIn = {
  name: "Which?",
  inputs: ["d1"],
  instructions: "i",
  generation: { candidates: [{ label: "a", model: "local:lead" }, { label: "b", model: "local:lead" }] },
  comparison: { judges: [{ model: "local:reader" }] },
};

const paths = (draft: PresetIn) => [...faultsOf(draft, KNOWN).keys()];

test("a whole preset has no faults", () => {
  expect(paths(GOOD)).toEqual([]);
});

test("an empty one says everything that is missing at once", () => {
  expect(paths(emptyDraft(undefined))).toEqual(["name", "inputs", "generation.candidates", "comparison.judges"]);
});

test("labels must differ, also where a label is the model's name", () => {
  expect(paths({ ...GOOD, generation: { candidates: [{ model: "local:lead" }, { label: "local:lead", model: "local:lead" }] } })).toEqual(["generation.candidates[1].label"]);
});

test("a model must be able to do what it is chosen for, and be there", () => {
  expect(paths({ ...GOOD, comparison: { judges: [{ model: "local:lead" }, { model: "openai:big" }] } })).toEqual(["comparison.judges[0].model", "comparison.judges[1].model"]);
  expect(paths({ ...GOOD, comparison: { judges: [{ model: "mine:unknown" }] } })).toEqual([]);
});

test("a candidate of existing texts needs no model if every document has one", () => {
  const candidates = [{ label: "today", existing: { d1: "x" } }, { label: "b", model: "local:lead" }];
  expect(paths({ ...GOOD, generation: { candidates } })).toEqual([]);
  expect(faultsOf({ ...GOOD, inputs: ["d1", "d2"], generation: { candidates } }, { ...KNOWN, documents: undefined }).get("generation.candidates[0].model")).toContain("without an existing answer");
});

test("a document that was deleted is noticed", () => {
  expect(faultsOf({ ...GOOD, inputs: ["d1", "gone"] }, KNOWN).get("inputs")).toContain("1 of the documents is no longer");
});

test("a new candidate gets a label of its own", () => {
  expect(freeLabel("lead", ["lead", "lead 2"])).toBe("lead 3");
});
