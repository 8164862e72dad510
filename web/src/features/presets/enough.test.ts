import { expect, test } from "vitest";
import type { DryRun } from "../../api/types";
import { formatsFor } from "../../lib/format";
import { enoughInWords } from "./enough";

const formats = formatsFor("en", "UTC");
const POWER = { documents: 12, candidates: 3, chance: 0.19, documents_enough_low: 16, sentence: "" };
const said = (changes: Partial<DryRun["power"]>) =>
  enoughInWords({ ...POWER, chance_high: 0.69, documents_enough: 47, ...changes }, formats);

test("documents that are too few are said to be so, with the number that is safer", () => {
  expect(said({})).toBe("12 documents may find a clear winner; 47 are safer.");
  expect(said({ documents: 4, chance_high: 0 })).toBe("4 documents will hardly find a clear winner; 47 are safer.");
  expect(said({ documents: 47 })).toBe("47 documents will probably find a clear winner.");
});

test("where no number of documents is known to be enough, none is named", () => {
  expect(said({ documents_enough: null })).toBe("12 documents will hardly find a clear winner.");
  expect(said({ documents_enough: null, chance_high: 0 })).toBeUndefined();
});
