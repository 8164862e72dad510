/** What a file is that is dropped on a new comparison, and what follows from it. */
import type { components } from "carrel-sdk";
import type { DataSetColumn } from "../../../api/types";
import { endsIn, TABLE_ENDINGS } from "../../../lib/contentTypes";

export type TablePreview = components["schemas"]["TablePreview"];
export type ImportedSuite = components["schemas"]["ImportedSuite"];
type Source = TablePreview["source"];

/** What was found at the first look. Nothing of it is kept yet. */
export type Brought =
  | {
      kind: "table";
      file: File;
      /** More results of the same program, or tables, whose rows have the same ids. */
      others: readonly File[];
      preview: TablePreview;
      columns: DataSetColumn[];
      sheet?: string | undefined;
    }
  | { kind: "suite"; file: File; text: string; beside: readonly File[] };

export const PROGRAMS: Readonly<Record<Source, string>> = {
  table: "a table",
  promptfoo: "promptfoo",
  inspect: "Inspect",
  langfuse: "Langfuse",
  openai: "OpenAI's Evals",
  "lm-eval": "lm-evaluation-harness",
  deepeval: "deepeval",
  ragas: "ragas",
};

const SETTINGS = [".yaml", ".yml", ".json"];

/** Files that may be something else than a document: a table, results of another program, or a suite. */
export function isToLookAt(file: { name: string }): boolean {
  return endsIn(file, TABLE_ENDINGS) || endsIn(file, [...SETTINGS, ".eval"]);
}

/** A suite may name other files that were dropped with it, and they are parts of it. */
export function first(files: readonly File[]): File | undefined {
  return files.find(({ name }) => /promptfooconfig/i.test(name)) ?? files.find(isToLookAt);
}

/** How many files may be one table. */
const MOST = 10;

/** The other results that belong to a file: the answers of other models, each in a file of its own. */
export function othersOf(file: File, beside: readonly File[]): File[] {
  const [ending] = [".eval", ...TABLE_ENDINGS].filter((one) => endsIn(file, [one]));
  const others = ending ? beside.filter((one) => endsIn(one, [ending])) : [];
  return others.length < MOST ? others : [];
}

/** Whether a text is a configuration of promptfoo. Its results name their configuration, too. */
export function isSuite(name: string, text: string): boolean {
  if (!endsIn({ name }, SETTINGS)) return false;
  if (!name.toLowerCase().endsWith(".json"))
    return areOfSuite([...text.matchAll(/^([a-zA-Z]+)[ \t]*:/gm)].map(([, key = ""]) => key));
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && areOfSuite(Object.keys(value));
  } catch {
    return false;
  }
}

function areOfSuite(keys: readonly string[]): boolean {
  const asked = keys.includes("prompts") || keys.includes("tests") || keys.includes("scenarios");
  const called = keys.some((key) => key === "providers" || key === "targets" || key === "prompts");
  return asked && called && !keys.includes("results");
}

/** Whether a text that is no suite may hold results. */
export function mayHoldResults(file: { name: string }, text: string): boolean {
  return !endsIn(file, [".yaml", ".yml"]) || /^(results|evalId)[ \t]*:/m.test(text);
}
