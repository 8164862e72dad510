/** Criteria to begin with, by what the answers are for. */
import type { CriterionRow } from "../api/types";
import { NO_ROW } from "./criteria";

export interface Template {
  task: string;
  rows: readonly CriterionRow[];
}

export const TEMPLATES: readonly Template[] = [
  template(
    "Summary",
    ["coverage", "Holds every point that the reader needs to decide or to act; nothing important is missing.", "3"],
    ["faithfulness", "States only what the document says, with its numbers, names and dates unchanged.", "3"],
    ["conciseness", "Has no sentence that could be left out.", "1"],
    ["clarity", "Can be understood without the document.", "1"],
  ),
  template(
    "Support reply",
    ["resolution", "Solves the customer’s problem or says exactly what happens next, and when.", "3"],
    ["correctness", "Promises and claims nothing that the thread and the rules do not support.", "3"],
    ["tone", "Is polite and calm, fits the customer’s mood, and blames nobody.", "2"],
    ["effort", "Asks only for what is needed, and for nothing that the customer has told already.", "1"],
  ),
  template(
    "Extraction",
    ["completeness", "Holds every value that was asked for and that the document has.", "3"],
    ["exactness", "Gives each value as the document does, without rounding or rewording it.", "3"],
    ["restraint", "Leaves empty what the document does not say, instead of guessing.", "2"],
    ["form", "Has the form that was asked for, with nothing before or after it.", "1"],
  ),
  template(
    "Translation",
    ["meaning", "Says all that the original says, and nothing else.", "3"],
    ["language", "Reads as if it was written in the target language: grammar, idiom, punctuation.", "2"],
    ["terms", "Translates the terms of the trade rightly, and the same term always in the same way.", "2"],
    ["register", "Is as formal, as friendly or as dry as the original.", "1"],
  ),
  template(
    "Code review",
    ["findings", "Finds the faults that would break the program, lose data or open a hole.", "3"],
    ["truth", "Reports nothing that is no fault, and describes what the code really does.", "3"],
    ["help", "Says where each fault is and how it can be mended.", "2"],
    ["order", "Names the worst first, and keeps matters of taste short.", "1"],
  ),
];

function template(task: string, ...rows: (readonly [string, string, string])[]): Template {
  return { task, rows: rows.map(([name, description, weight]) => ({ ...NO_ROW, name, description, weight })) };
}

/** The rows with those of a template behind them; a name that is there already stays as it is. */
export function withTemplate(rows: readonly CriterionRow[], { rows: more }: Template): CriterionRow[] {
  const known = new Set(rows.map(({ name }) => name?.trim().toLowerCase()));
  return [
    ...rows.filter((row) => Object.values(row).some(Boolean)),
    ...more.filter(({ name }) => !known.has(name ?? "")),
  ];
}
