import { afterEach, expect, test } from "vitest";
import type { PresetIn } from "../../api/types";
import { keepDraft, keptDraft } from "./keptDraft";

afterEach(() => sessionStorage.clear());

const SAVED: PresetIn = { name: "Saved", tags: [], inputs: [], generation: { candidates: [] }, comparison: null };
const EDITED: PresetIn = {
  ...SAVED,
  name: "A secret name",
  description: "A secret",
  inputs: ["d1"],
  generation: { candidates: [{ label: "alpha", model: "openai:alpha" }] },
  checks: [{ name: "greets", kind: "contains", texts: ["A secret greeting"] }],
};

test("a draft comes back after a reload, without the texts that were typed", () => {
  keepDraft("p1", '"1"', EDITED);
  expect(JSON.stringify(sessionStorage)).not.toContain("secret");
  expect(keptDraft("p1", '"1"', SAVED)).toEqual({ ...SAVED, inputs: ["d1"], generation: EDITED.generation });
});

test("it comes back only to its own preset, and only in the version that was edited", () => {
  keepDraft("p1", '"1"', EDITED);
  expect(keptDraft("p2", '"1"', SAVED)).toBeUndefined();
  expect(keptDraft("p1", '"2"', SAVED)).toBeUndefined();
  keepDraft("p1", undefined, undefined);
  expect(keptDraft("p1", '"1"', SAVED)).toBeUndefined();
});

test("a draft whose texts decide what it means is not kept at all", () => {
  keepDraft("new", undefined, { ...EDITED, rows: { data_set: "t", where: { customer: "Mara" } } });
  expect(keptDraft("new", undefined, SAVED)).toBeUndefined();
});
