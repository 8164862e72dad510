import { expect, test } from "vitest";
import type { DefaultJudges, PresetIn } from "../../../api/types";
import {
  begunOf,
  candidatesOf,
  cellOf,
  EMPTY,
  keptOf,
  missingIn,
  nameOf,
  presetOf,
  setupOf,
  triedPart,
  type Setup,
  withModels,
  withTable,
} from "./setup";

function byDefault(...models: string[]): DefaultJudges {
  const judge = { host: null, family: "x", grounds: "check" as const, right: 1, measured: null, source: null };
  return { judges: models.map((model) => ({ ...judge, model })), sentence: "It is told why." };
}

const SETUP: Setup = {
  ...EMPTY,
  documents: ["d1"],
  prompts: [{ text: "Summarise.", contentId: "p1" }],
  models: ["openai:gpt-5", "openai:gpt-5-mini"],
};

test("each model is a candidate under its own name", () => {
  expect(candidatesOf(SETUP)).toEqual([
    { label: "gpt-5", model: "openai:gpt-5" },
    { label: "gpt-5-mini", model: "openai:gpt-5-mini" },
  ]);
});

test("with two prompts each cell of the grid that is not off is one", () => {
  const prompts = [...SETUP.prompts, { text: "Shorter.", contentId: "p2" }];
  const found = candidatesOf({ ...SETUP, prompts, off: [cellOf("openai:gpt-5", 1)] });
  expect(found).toEqual([
    { label: "gpt-5 · A", model: "openai:gpt-5" },
    { label: "gpt-5-mini · A", model: "openai:gpt-5-mini" },
    { label: "gpt-5-mini · B", model: "openai:gpt-5-mini", instructions: "p2" },
  ]);
});

test("what is missing is told in the order of the page", () => {
  expect(missingIn(EMPTY)).toHaveLength(3);
  expect(missingIn(SETUP)).toEqual([]);
});

test("one candidate can be tried, and needs another one to be compared with", () => {
  const alone = { ...SETUP, models: ["openai:gpt-5"] };
  expect(missingIn(alone)).toHaveLength(1);
  expect(missingIn(alone, true)).toEqual([]);
});

test("a trial needs no judges, unless candidates see the criteria", () => {
  const scoring = { judges: [{ model: "x:y" }], criteria: "c1" };
  const preset = presetOf({ ...SETUP, more: { scoring } }, undefined);
  expect(triedPart(preset)).toMatchObject({ comparison: null, scoring: null, inputs: ["d1"] });
  const open = { ...preset, generation: { ...preset.generation, show_criteria: true } };
  expect(triedPart(open).scoring).toEqual(scoring);
});

test("the default judges judge until the user chooses others", () => {
  expect(presetOf(SETUP, byDefault("local:reader")).comparison?.judges).toEqual([{ model: "local:reader" }]);
  expect(presetOf(SETUP, undefined).comparison?.judges).toEqual([]);
  const own = { ...SETUP, more: { comparison: { judges: [{ model: "x:y" }] } } };
  expect(presetOf(own, byDefault("local:reader")).comparison?.judges).toEqual([{ model: "x:y" }]);
});

test("where nobody judges by default, a judge is missing unless the user chose one, and a trial needs none", () => {
  expect(missingIn(SETUP, false, byDefault())).toEqual([{ part: "comparison", words: "It is told why." }]);
  expect(missingIn(SETUP, true, byDefault())).toEqual([]);
  expect(missingIn(SETUP, false, byDefault("x:y"))).toEqual([]);
  const own = { ...SETUP, more: { comparison: { judges: [{ model: "x:y" }] } } };
  expect(missingIn(own, false, byDefault())).toEqual([]);
});

test("the name is the beginning of the task", () => {
  expect(nameOf("Summarise the thread.\nBe brief.")).toBe("Summarise the thread.");
  expect(nameOf("word ".repeat(30))).toMatch(/^(word )+…$/);
  expect(nameOf(" ")).toBe("Comparison");
});

test("rows of a data set take the place of documents, and of what goes with documents", () => {
  const rows = { data_set: "s1", where: { lang: "de" } };
  const more = { references: { d1: "r1" }, groups: { by: "tag" as const } };
  const preset = presetOf({ ...SETUP, rows, more }, undefined);
  expect(preset).toMatchObject({ rows, inputs: [], references: {}, groups: null });
  expect(missingIn({ ...SETUP, documents: [], rows })).toEqual([]);
});

test("a draft holds every text that is nowhere else, and leaves to the library what is there", () => {
  const rows = { data_set: "s1", where: { name: "Mara" } };
  const more = { checks: [{ kind: "contains" as const, texts: ["Dear Mara"] }] };
  const prompts = [
    { text: "In the library.", contentId: "p1", kept: "In the library." },
    { text: "Changed.", contentId: "p2", kept: "Before.", isShared: true },
    { text: "Typed a moment ago." },
    { text: "", contentId: "p4" },
    { text: "", contentId: "p5", kept: "Deleted on the page." },
  ];
  const kept = keptOf({ ...SETUP, name: "Mine", rows, more, prompts });
  expect(kept).toMatchObject({ name: "Mine", rows, more });
  expect(kept.prompts.map(({ text, contentId }) => [text, contentId])).toEqual([
    ["", "p1"],
    ["Changed.", "p2"],
    ["Typed a moment ago.", undefined],
    ["", "p4"],
    ["", undefined],
  ]);
  expect(kept.prompts[1]?.isShared).toBe(true);
});

test("finished answers compete without a task, and what another program gave them decides where nobody judges", () => {
  const grade = { kind: "grade" as const, name: "right", columns: { a: "right, a", b: "right, b", gone: "x" } };
  const table = { id: "s1", name: "out.json", answers: ["a", "b"], checks: [grade] };
  const decided = withTable({ ...EMPTY, name: "out.json" }, table);
  expect(missingIn(decided, false, byDefault())).toEqual([]);
  expect(missingIn(decided, true)).toHaveLength(1);
  const preset = presetOf(decided, byDefault());
  expect(preset).toMatchObject({ name: "out.json", rows: { data_set: "s1" }, inputs: [], instructions: null });
  expect(preset.generation.candidates).toEqual([
    { label: "a", column: "a" },
    { label: "b", column: "b" },
  ]);
  expect([preset.comparison, preset.checks]).toEqual([null, [{ ...grade, columns: { a: "right, a", b: "right, b" } }]]);
  expect(presetOf(decided, byDefault("x:y")).comparison?.judges).toEqual([{ model: "x:y" }]);
  // A model beside them needs a task.
  const beside = { ...decided, models: ["x:a"] };
  expect(missingIn(beside).map(({ part }) => part)).toEqual(["instructions"]);
  expect(candidatesOf(beside).map(({ label }) => label)).toEqual(["a", "b", "a 2"]);
});

const STORED: PresetIn = {
  name: "Stored",
  description: "Each month.",
  inputs: ["d1"],
  instructions: "p1",
  references: { d1: "r1" },
  generation: {
    candidates: [
      { label: "gpt-5 · A", model: "openai:gpt-5", existing: {}, parameters: {}, grounding: "off", column: null },
      { label: "gpt-5-mini · B", model: "openai:gpt-5-mini", instructions: "p2" },
    ],
    repeats: 2,
  },
  scoring: null,
  comparison: { judges: [{ model: "x:y" }], finalists: 2 },
};
const saying = ({ generation, ...preset }: PresetIn) => ({
  ...preset,
  repeats: generation.repeats,
  candidates: generation.candidates.map(({ label, model, instructions }) => ({ label, model, instructions })),
});

test("a stored preset opens as models and prompts if they say the same, and is saved as it was", () => {
  const setup = setupOf(STORED);
  expect(setup).toMatchObject({ models: ["openai:gpt-5", "openai:gpt-5-mini"], documents: ["d1"] });
  expect(setup.candidates).toBeUndefined();
  expect(setup.prompts.map(({ contentId }) => contentId)).toEqual(["p1", "p2"]);
  expect(saying(presetOf(setup, undefined))).toMatchObject(saying(STORED));
  expect(missingIn(setup)).toEqual([]);
});

test("whatever else its candidates say, they are there one by one, and nothing of them is lost", () => {
  const candidates = [
    { label: "warm", model: "openai:gpt-5", parameters: { temperature: 0.9 } },
    { label: "today", existing: { d1: "t1" } },
  ];
  const stored = { ...STORED, generation: { ...STORED.generation, candidates } };
  const setup = setupOf(stored);
  expect(presetOf(setup, undefined).generation).toEqual(stored.generation);
  expect(presetOf(setup, undefined)).toMatchObject({ instructions: "p1", references: { d1: "r1" } });
  // A document that is left out takes its texts along.
  expect(presetOf({ ...setup, documents: ["d2"] }, undefined)).toMatchObject({
    references: {},
    generation: { candidates: [candidates[0], { label: "today", existing: {} }] },
  });
  const added = withModels(setup, ["x:warm"]);
  expect(added.candidates?.map(({ label }) => label)).toEqual(["today", "warm"]);
});

test("a draft goes on with what was edited and from the version that was edited, whichever form kept it", () => {
  const saved = { value: setupOf(STORED), etag: '"2"' };
  expect(begunOf(undefined, saved)).toEqual({ etag: '"2"' });
  expect(begunOf({ name: "Edited", etag: '"1"' }, saved)).toEqual({
    value: { ...saved.value, name: "Edited" },
    etag: '"1"',
  });
  const older = begunOf({ value: { ...STORED, name: "In the form" }, etag: '"1"' }, saved);
  expect(older.value).toEqual({ ...saved.value, name: "In the form" });
  expect(begunOf({ text: "nothing of ours" }, { ...saved, etag: undefined }).value).toMatchObject(saved.value);
});
