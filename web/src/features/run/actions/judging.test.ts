import { expect, test } from "vitest";
import type { Configuration, DryRun } from "../../../api/types";
import { formatsFor } from "../../../lib/format";
import { differences, judgedBy, judgingCost } from "./judging";

const formats = formatsFor("en", "UTC");

test.each([
  [["a"], ["a"], false, /^Nothing differs/],
  [["a", "b"], ["b", "c"], false, /^What differs: c judges as well; a does not judge\./],
  [["a"], ["b", "c"], true, /^What differs: b and c judge as well; a does not judge; the criteria are others\./],
])("from %o to %o", (before, after, hasOthers, words) => {
  expect(differences(before, after, hasOthers)).toMatch(words);
});

const RUN = {
  inputs: ["d"],
  reuse: true,
  scoring: { judges: [{ model: "a" }], criteria: "c" },
  comparison: { judges: [{ model: "a" }], finalists: 2 },
} as unknown as Configuration;

test("what judging costs is asked for with the chosen judges and without any", () => {
  const judges = [{ model: "b" }];
  expect(judgedBy(RUN, { judges, criteria: "other" })).toEqual([
    {
      inputs: ["d"],
      combination: null,
      reuse: false,
      scoring: { judges, criteria: "other" },
      comparison: { judges, finalists: 2 },
    },
    { inputs: ["d"], combination: null, reuse: false },
  ]);
  const unjudged = { inputs: ["d"] } as unknown as Configuration;
  expect(judgedBy(unjudged, { judges, criteria: "" })[0]).toEqual({
    inputs: ["d"],
    combination: null,
    reuse: false,
    comparison: { judges },
  });
});

const dry = (likely_cost: string | null, worst_cost: string | null, score = 0, compare = 0) =>
  ({ calls: { score, compare }, likely_cost, worst_cost }) as DryRun;

test.each([
  [dry("1.5", "3", 20, 40), dry("0.5", "1"), "This takes 60 calls and costs about $1.00, at most $2.00."],
  [dry("0.5", "1", 0, 1), dry("0.5", "1"), "This takes 1 call, which cost nothing."],
  [dry(null, null, 0, 2), dry("0.5", "1"), "This takes 2 calls of unknown price."],
])("the cost is what comes on top of the answers", (judged, bare, words) => {
  expect(judgingCost(judged, bare, formats)).toBe(words);
});
