import { expect, test } from "vitest";
import type { Report } from "../../../api/types";
import { doubtOf, otherDoubtsOf, outcomeOf, sentenceOf } from "./outcome";

const REPORT = {
  finished: true,
  verdict: { outcome: "decided", sentence: "A is best.", notes: [], scope: "", grey: false },
  ranking: { exploratory: false, leaders: ["A"] },
} as unknown as Report;

function having(changes: Record<string, unknown>): Report {
  return { ...REPORT, ...changes };
}

test("a verdict that nothing speaks against is decided", () => {
  expect(outcomeOf(REPORT)).toEqual({ label: "Decided", tone: "good" });
});

test("it is not green where a serious doubt speaks against it", () => {
  const doubted = having({ verdict: { ...REPORT.verdict, doubted: true } });
  expect(outcomeOf(doubted)).toEqual({ label: "Decided, with doubts", tone: "warn" });
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
      doubt: "12 missing scores could overturn this. Retry what failed.",
      notes: ["12 missing scores could overturn this.", "By scores, B leads."],
    },
  });
  const nothing = { ...paused, verdict: { ...paused.verdict, outcome: "nothing" as const } };
  expect(outcomeOf(nothing).label).toBe("Nothing compared yet");
  expect(outcomeOf({ ...nothing, finished: true }).label).toBe("Nothing compared");
  expect(sentenceOf(paused, true)).toBe("The pairs are still to be judged. By scores so far: A leads.");
  expect(sentenceOf(paused, false)).toContain("Nothing was compared");
  expect(doubtOf(paused)).toBeUndefined();
  expect(doubtOf({ ...paused, finished: true })).toContain("Retry what failed.");
  expect(otherDoubtsOf(paused)).toEqual(["By scores, B leads."]);
});
