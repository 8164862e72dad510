import { expect, test } from "vitest";
import type { Report } from "../../../api/types";
import { doubtsOf, outcomeOf, sentenceOf } from "./outcome";

const REPORT = {
  finished: true,
  verdict: { outcome: "decided", sentence: "A is best.", notes: [], scope: "", grey: false },
  ranking: { exploratory: false, leaders: ["A"], distrust: [], longer_text: { won: 10, of: 40 } },
  human: null,
  judges: [{ health: { flips: 1, agreed: 99 } }],
} as unknown as Report;

function having(changes: Record<string, unknown>): Report {
  return { ...REPORT, ...changes };
}

test("a verdict that nothing speaks against is decided", () => {
  expect(outcomeOf(REPORT)).toEqual({ label: "Decided", tone: "good" });
});

test.each([
  ["people name another leader", { human: { leaders: ["B"] } }],
  ["a judge follows the order", { judges: [{ health: { flips: 37, agreed: 63 } }] }],
  ["the longer text always won", { ranking: { ...REPORT.ranking, longer_text: { won: 342, of: 362 } } }],
  [
    "the judges are not to be trusted",
    { ranking: { ...REPORT.ranking, distrust: [{ decisive: true, kind: "chance" }] } },
  ],
])("it is not green where %s", (_, changes) => {
  expect(outcomeOf(having(changes))).toEqual({ label: "Decided, with doubts", tone: "warn" });
});

test("weights that were chosen after the results were seen decide nothing", () => {
  const moved = having({ ranking: { ...REPORT.ranking, exploratory: true } });
  expect(outcomeOf(moved)).toEqual({ label: "Exploratory", tone: "warn" });
});

test("while a run is paused, what is still to come is not called missing or left out", () => {
  const paused = having({
    finished: false,
    verdict: {
      ...REPORT.verdict,
      sentence: "Nothing was compared; by scores alone: A leads.",
      notes: ["12 missing scores could overturn this.", "By scores, B leads."],
    },
  });
  expect(sentenceOf(paused, true)).toBe("The comparisons are still to come. By scores so far: A leads.");
  expect(sentenceOf(paused, false)).toContain("Nothing was compared");
  expect(doubtsOf(paused)).toEqual(["By scores, B leads."]);
});
