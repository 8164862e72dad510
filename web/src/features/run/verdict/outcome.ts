/** What the verdict page says first: the outcome in a word, as strong as the evidence and never stronger. */
import type { Report } from "../../../api/types";

type Outcome = Report["verdict"]["outcome"];

interface Shown {
  label: string;
  tone: "good" | "warn" | "bad";
}

const OUTCOMES: Record<Outcome, Shown> = {
  decided: { label: "Decided", tone: "good" },
  undecided: { label: "Undecided", tone: "warn" },
  level: { label: "Level", tone: "warn" },
  too_few: { label: "Too few documents", tone: "warn" },
  anecdote: { label: "One document", tone: "warn" },
  disconnected: { label: "Not connected", tone: "bad" },
  nothing: { label: "Nothing compared", tone: "bad" },
};
const MISSING = /^[\d,]+ missing (verdict|score)s? could overturn this\./;
const SCORES_ALONE = "Nothing was compared; by scores alone:";

export function outcomeOf(report: Report): Shown {
  const { verdict, ranking } = report;
  if (ranking.exploratory) return { label: "Exploratory", tone: "warn" };
  if (verdict.outcome === "nothing" && !report.finished) return { label: "Nothing compared yet", tone: "warn" };
  if (verdict.outcome === "decided" && verdict.doubted) return { label: "Decided, with doubts", tone: "warn" };
  return OUTCOMES[verdict.outcome];
}

/** The doubt that could change the decision, unless the run is still to judge what is open. */
export function doubtOf({ verdict: { doubt }, finished }: Report): string | undefined {
  return doubt && (finished || !MISSING.test(doubt)) ? doubt : undefined;
}

/**
 * The other doubts, the most serious first. What a run at work has not judged yet is not missing from it.
 */
export function otherDoubtsOf({ verdict, finished }: Report): string[] {
  const { doubt, notes } = verdict;
  return notes.filter((note) => !doubt?.startsWith(note) && (finished || !MISSING.test(note)));
}

/** The verdict's sentence; while pairs are still to be judged it does not speak as if there were none. */
export function sentenceOf({ verdict, finished }: Report, isComparing: boolean): string {
  if (finished || !isComparing) return verdict.sentence;
  return verdict.sentence.replace(SCORES_ALONE, "The pairs are still to be judged. By scores so far:");
}
