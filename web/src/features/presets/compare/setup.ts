/** A comparison while it is set up: documents, prompts and models, and the preset that they make. */
import type { Candidate, DefaultJudges, PresetIn, Rows } from "../../../api/types";
import { freeLabel, shortName } from "../draft";

export interface Prompt {
  text: string;
  /** The text in the library, once it is kept there. */
  contentId?: string | undefined;
  /** What is kept there is exactly this. */
  kept?: string | undefined;
  /** It was taken from the library, where others use it: another text gets an id of its own. */
  isShared?: boolean;
}

export interface Setup {
  name: string;
  documents: readonly string[];
  /** Rows of a data set, which take the place of documents. */
  rows?: Rows | undefined;
  prompts: readonly Prompt[];
  models: readonly string[];
  /** Cells of the grid of models and prompts that do not take part. */
  off: readonly string[];
  /** Whatever else the user has chosen: judges, limits and so on. */
  more: Partial<PresetIn>;
  /** The last trial: a run of all candidates on one document. */
  trial?: string | undefined;
}

export const EMPTY: Setup = { name: "", documents: [], prompts: [{ text: "" }], models: [], off: [], more: {} };

const LONGEST_NAME = 60;

export function cellOf(model: string, prompt: number): string {
  return `${prompt} ${model}`;
}

/** A, B, C, as prompts are called beside each other. */
export function letterOf(prompt: number): string {
  return String.fromCharCode(65 + (prompt % 26));
}

/** The cells that take part, as candidates: the label says the model, and the prompt where there are several. */
export function candidatesOf({ models, prompts, off }: Setup): Candidate[] {
  const labels: string[] = [];
  return models.flatMap((model) =>
    prompts.flatMap((prompt, number): Candidate[] => {
      if (off.includes(cellOf(model, number))) return [];
      const wanted = prompts.length > 1 ? `${shortName(model)} · ${letterOf(number)}` : shortName(model);
      const label = freeLabel(wanted, labels);
      labels.push(label);
      return [{ label, model, ...(number > 0 && prompt.contentId ? { instructions: prompt.contentId } : {}) }];
    }),
  );
}

/**
 * The preset, as far as it can be made yet; the judges are those that the service takes for the models by default, unless
 * the user chose others.
 */
export function presetOf(setup: Setup, byDefault: DefaultJudges | undefined): PresetIn {
  const judges = (byDefault?.judges ?? []).map(({ model }) => ({ model }));
  return {
    tags: [],
    scoring: null,
    comparison: { judges },
    ...setup.more,
    name: setup.name.trim() || nameOf(setup.prompts[0]?.text ?? ""),
    ...(setup.rows ? { rows: setup.rows, references: {}, groups: null } : {}),
    inputs: setup.rows ? [] : [...setup.documents],
    instructions: setup.prompts[0]?.contentId ?? null,
    generation: { ...setup.more.generation, candidates: candidatesOf(setup) },
  };
}

/** The first words of the task, which tell one comparison from another. */
export function nameOf(task: string): string {
  const line = task.trim().split("\n")[0]?.trim() ?? "";
  if (line.length <= LONGEST_NAME) return line || "Comparison";
  return `${line.slice(0, LONGEST_NAME).replace(/\s+\S*$/, "")} …`;
}

/** The part of a preset that a trial needs: no judges, unless candidates see the criteria by which they score. */
export function triedPart(preset: PresetIn): PresetIn {
  const { scoring, generation } = preset;
  return {
    ...preset,
    comparison: null,
    combination: null,
    scoring: generation.show_criteria ? (scoring ?? null) : null,
  };
}

/** What a trial works on: a document, or a row of a data set, which is the first one without a number. */
export type TriedInput = string | Rows;

/** The document, or the rows with the number of the one that is tried; nothing where the number is none. */
export function triedInput(
  { rows, documents }: Setup,
  wanted: string | undefined,
  row: string,
): TriedInput | undefined {
  if (!rows) return documents.find((id) => id === wanted) ?? documents[0];
  if (!row) return rows;
  return /^[1-9]\d{0,8}$/.test(row) ? { ...rows, row: Number(row) } : undefined;
}

export interface Missing {
  /** The part of the page where it is entered. */
  part: string;
  words: string;
}

/** What is still missing, in the order of the page; a trial needs one candidate only, and no judge. */
export function missingIn(setup: Setup, isTrial = false, byDefault?: DefaultJudges): Missing[] {
  const missing: Missing[] = [];
  if (!setup.documents.length && !setup.rows)
    missing.push({ part: "inputs", words: "Bring documents, or try the sample." });
  if (setup.prompts.some((prompt) => !prompt.text.trim()))
    missing.push({ part: "instructions", words: "Write the task." });
  const found = candidatesOf(setup).length;
  if (found < (isTrial ? 1 : 2))
    missing.push({ part: "generation", words: "Pick two models, or two prompts for one." });
  const hasJudges = setup.more.comparison === undefined ? byDefault?.judges.length !== 0 : true;
  if (!isTrial && found >= 2 && !hasJudges) missing.push({ part: "comparison", words: byDefault?.sentence ?? "" });
  // The service would call an id that nobody has chosen yet an unknown one.
  if (!isTrial && setup.more.scoring?.criteria === "")
    missing.push({ part: "scoring", words: "Choose the criteria by which answers are scored." });
  return missing;
}

/** What a draft keeps of it. A prompt that is in the library stays there, as what it is now. */
export function keptOf(setup: Setup): Setup {
  const prompts = setup.prompts.map(({ text, contentId, kept, isShared = false }): Prompt =>
    text === (kept ?? "")
      ? { text: "", contentId, isShared }
      : { text, contentId: text ? contentId : undefined, isShared },
  );
  return { ...setup, prompts };
}
