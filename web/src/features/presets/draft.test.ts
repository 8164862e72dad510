import { expect, test } from "vitest";
import type { GithubConnection, ContentSummary, Model, PresetIn } from "../../api/types";
import { faultsOf, freeLabel, suggestedReferences, withInputs, withModel } from "./draft";

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
  generation: {
    candidates: [
      { label: "a", model: "local:lead" },
      { label: "b", model: "local:lead" },
    ],
  },
  comparison: { judges: [{ model: "local:reader" }] },
};

const paths = (draft: PresetIn) => [...faultsOf(draft, KNOWN).keys()];

test("a whole preset has no faults", () => {
  expect(paths(GOOD)).toEqual([]);
});

test("an empty one says everything that is missing at once", () => {
  expect(paths({ name: "", generation: { candidates: [] }, comparison: { judges: [] } })).toEqual([
    "name",
    "inputs",
    "generation.candidates",
    "comparison.judges",
  ]);
});

test("labels must differ, also where a label is the model's name", () => {
  expect(
    paths({
      ...GOOD,
      generation: { candidates: [{ model: "local:lead" }, { label: "local:lead", model: "local:lead" }] },
    }),
  ).toEqual(["generation.candidates[1].label"]);
});

test("a model must be able to do what it is chosen for, and be there", () => {
  expect(paths({ ...GOOD, comparison: { judges: [{ model: "local:lead" }, { model: "openai:big" }] } })).toEqual([
    "comparison.judges[0].model",
    "comparison.judges[1].model",
  ]);
  expect(paths({ ...GOOD, comparison: { judges: [{ model: "mine:unknown" }] } })).toEqual([]);
});

test("a candidate of existing texts needs no model if every document has one", () => {
  const candidates = [
    { label: "today", existing: { d1: "x" } },
    { label: "b", model: "local:lead" },
  ];
  expect(paths({ ...GOOD, generation: { candidates } })).toEqual([]);
  expect(
    faultsOf({ ...GOOD, inputs: ["d1", "d2"], generation: { candidates } }, { ...KNOWN, documents: undefined }).get(
      "generation.candidates[0].model",
    ),
  ).toContain("without an existing answer");
});

test("a document that was deleted is noticed", () => {
  expect(faultsOf({ ...GOOD, inputs: ["d1", "gone"] }, KNOWN).get("inputs")).toContain(
    "1 of the documents is no longer",
  );
});

test("a new candidate gets a label of its own", () => {
  expect(freeLabel("lead", ["lead", "lead 2"])).toBe("lead 3");
});

test("what belongs to a document goes when the document is left out", () => {
  const candidates = [
    { label: "today", existing: { d1: "t1", d2: "t2" } },
    { label: "b", model: "local:lead" },
  ];
  const draft: PresetIn = {
    ...GOOD,
    inputs: ["d1", "d2"],
    references: { d1: "r1", d2: "r2" },
    generation: { candidates },
  };
  const next = withInputs(draft, ["d2", "d3"]);
  expect(next.inputs).toEqual(["d2", "d3"]);
  expect(next.references).toEqual({ d2: "r2" });
  expect(next.generation.candidates).toEqual([
    { label: "today", existing: { d2: "t2" } },
    { label: "b", model: "local:lead" },
  ]);
  expect(withInputs(GOOD, ["d3"])).not.toHaveProperty("references");
});

test("references are paired by name where there is no doubt", () => {
  const named = (id: string, name: string) => ({ id, name }) as ContentSummary;
  const documents = [named("d1", "Report 1.md"), named("d2", "Report 2"), named("d3", "Letter"), named("d4", "…")];
  const texts = [
    named("r1", "report 1 (reference)"),
    named("r2", "Report 2.ref.md"),
    named("r3", "Letter, gold"),
    named("r4", "letter reference"),
    named("r5", "-"),
  ];
  expect([...suggestedReferences(documents, texts, { d2: "other" })]).toEqual([["d1", "r1"]]);
});

test("answers that go to GitHub need a repository that is connected, a folder and a branch that can be one", () => {
  const faults = (output: PresetIn["output"]) => [
    ...faultsOf(
      { ...GOOD, ...(output ? { output } : {}) },
      { ...KNOWN, connections: [{ id: "c1" }] as GithubConnection[] },
    ).keys(),
  ];
  expect(faults({ destination: "github", connection: "c1", path: "results/2026", branch: "carrel" })).toEqual([]);
  expect(faults({ destination: "github" })).toEqual(["output.connection"]);
  expect(faults({ destination: "github", connection: "gone", path: "../x", branch: "a b" })).toEqual([
    "output.connection",
    "output.path",
    "output.branch",
  ]);
  expect(faults({ destination: "library" })).toEqual([]);
});

test("a label follows the model until its user writes another", () => {
  const lead = { label: "lead", model: "local:lead" };
  expect(withModel(lead, "openai:gpt-5", [])).toEqual({ label: "gpt-5", model: "openai:gpt-5" });
  expect(withModel({ ...lead, label: "lead 2" }, "openai:gpt-5", ["gpt-5"]).label).toBe("gpt-5 2");
  expect(withModel({ ...lead, label: "today" }, "openai:gpt-5", []).label).toBe("today");
  const cleared = withModel(lead, "", []);
  expect(cleared).toEqual({ label: "candidate", model: null });
  expect(withModel(cleared, "openai:gpt-5", []).label).toBe("gpt-5");
  expect(withModel({ ...lead, label: "today" }, "", []).label).toBe("today");
});
