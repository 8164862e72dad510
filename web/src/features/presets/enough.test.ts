import { expect, test } from "vitest";
import type { DryRun } from "../../api/types";
import { formatsFor } from "../../lib/format";
import { enoughInWords } from "./enough";

const formats = formatsFor("en", "UTC");
const POWER = { documents: 12, candidates: 3, chance: 0.19, documents_enough_low: 16, sentence: "" };
const said = (changes: Partial<DryRun["power"]>) =>
  enoughInWords({ ...POWER, chance_high: 0.69, documents_enough: 47, ...changes }, formats);

test("documents that are too few are said to be so, with the number that is safer", () => {
  expect(said({})).toBe("12 documents may be enough to show a clear difference; 47 are safer.");
  expect(said({ documents: 4, chance_high: 0 })).toBe(
    "4 documents are hardly enough to show a clear difference; 47 are safer.",
  );
  expect(said({ documents: 47 })).toBe("47 documents show a clear difference, if there is one.");
});

test("where no number of documents is known to be enough, none is named", () => {
  expect(said({ documents_enough: null })).toBe("12 documents are too few to find a clear winner.");
  expect(said({ documents: 1, documents_enough: null })).toBe("1 document is too few to find a clear winner.");
  expect(said({ documents_enough: null, chance_high: 0 })).toBeUndefined();
});
