/** A comparison while it is set up: documents, prompts and models, and the preset that they make. */
import type {
  AnswerCheck,
  Candidate,
  DataSetColumn,
  DefaultJudges,
  PresetIn,
  Rows,
  UserSettings,
} from "../../../api/types";
import { same, type Saved } from "../../../lib/useDraft";
import { type Faults, freeLabel, labelOf, shortName, withInputs } from "../draft";

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
  /** Columns of the data set with finished answers, each of which competes. */
  answers?: readonly string[] | undefined;
  prompts: readonly Prompt[];
  models: readonly string[];
  /** Cells of the grid of models and prompts that do not take part. */
  off: readonly string[];
  /** All who compete, one by one, where the grid cannot say it; it counts for nothing then. */
  candidates?: readonly Candidate[] | undefined;
  /** Whatever else the user has chosen: judges, limits and so on. */
  more: Partial<PresetIn>;
  /** The last trial: a run of all candidates on one document. */
  trial?: string | undefined;
}

export const EMPTY: Setup = { name: "", documents: [], prompts: [{ text: "" }], models: [], off: [], more: {} };

/** What a new one begins with: the user's own models and judges, where the settings name some. */
export function beginning(settings: UserSettings | undefined): Setup {
  const judges = (settings?.default_judges ?? []).map((model) => ({ model }));
  return {
    ...EMPTY,
    models: settings?.default_candidates ?? [],
    more: judges.length ? { comparison: { judges } } : {},
  };
}

const LONGEST_NAME = 60;

export function cellOf(model: string, prompt: number): string {
  return `${prompt} ${model}`;
}

/** A, B, C, as prompts are called beside each other. */
export function letterOf(prompt: number): string {
  return String.fromCharCode(65 + (prompt % 26));
}

/** A table that was dropped and is a data set now, with the grades in it as checks. */
export interface KeptTable {
  id: string;
  name: string;
  answers: readonly string[];
  checks: readonly AnswerCheck[];
}

/** The setup with the rows of a table, whose finished answers compete. */
export function withTable(setup: Setup, { id, answers, checks }: KeptTable): Setup {
  const more = checks.length ? { ...setup.more, checks: [...checks] } : setup.more;
  const candidates = setup.candidates && [
    ...setup.candidates,
    ...answers.map((column): Candidate => ({ label: column, column })),
  ];
  return { ...setup, rows: { data_set: id }, answers, more, ...(candidates ? { candidates } : {}) };
}

/** The columns with finished answers. */
export function answersIn(columns: readonly DataSetColumn[]): string[] {
  return columns.filter(({ role }) => role === "output").map(({ name }) => name);
}

/**
 * The columns with finished answers and the cells that take part, as candidates: the label says the model, and the prompt
 * where there are several.
 */
export function candidatesOf({ rows, answers, models, prompts, off, candidates }: Setup): Candidate[] {
  if (candidates) return [...candidates];
  const finished = rows ? (answers ?? []) : [];
  const labels: string[] = [...finished];
  return [
    ...finished.map((column): Candidate => ({ label: column, column })),
    ...models.flatMap((model) =>
      prompts.flatMap((prompt, number): Candidate[] => {
        if (off.includes(cellOf(model, number))) return [];
        const wanted = prompts.length > 1 ? `${shortName(model)} · ${letterOf(number)}` : shortName(model);
        const label = freeLabel(wanted, labels);
        labels.push(label);
        return [{ label, model, ...(number > 0 && prompt.contentId ? { instructions: prompt.contentId } : {}) }];
      }),
    ),
  ];
}

/** The models that take part. */
export function modelsOf({ candidates, models }: Setup): readonly string[] {
  return candidates ? [...new Set(candidates.flatMap(({ model }) => model ?? []))] : models;
}

/** These models take part: of candidates one by one, those of others go, and each new model becomes one. */
export function withModels(setup: Setup, models: readonly string[]): Partial<Setup> {
  if (!setup.candidates) return { models };
  const before = modelsOf(setup);
  const candidates = setup.candidates.filter(({ model }) => !model || models.includes(model));
  for (const model of models.filter((one) => !before.includes(one)))
    candidates.push({ label: freeLabel(shortName(model), candidates.map(labelOf)), model });
  return { candidates };
}

/** Whether somebody answers by the task; finished answers need none, nor do candidates with instructions of their own. */
export function needsTask({ candidates, models, rows, answers }: Setup): boolean {
  if (candidates) return candidates.some(({ model, instructions }) => model && !instructions);
  return models.length > 0 || !(rows && answers?.length);
}

/** A stored preset as it is edited: in the grid of models and prompts if that says the same, or one candidate by one. */
export function setupOf({ name, inputs = [], rows, instructions, generation, ...others }: PresetIn): Setup {
  const { candidates, ...rest } = generation;
  const prompts = [
    ...new Set([instructions ?? undefined, ...candidates.map((one) => one.instructions ?? instructions)]),
  ]
    .filter((id, at) => at === 0 || id)
    .map((id): Prompt => (id ? { text: "", contentId: id, isShared: true } : { text: "" }));
  const models = [...new Set(candidates.flatMap(({ model }) => model ?? []))];
  const answers = candidates.flatMap(({ column, model }) => (column && !model ? [column] : []));
  const setup: Setup = {
    ...{
      name,
      documents: inputs,
      prompts,
      models,
      off: [],
      more: { ...others, generation: { ...rest, candidates: [] } },
    },
    ...(rows ? { rows, answers } : {}),
  };
  const cells = models.flatMap((model) => prompts.map((prompt, number) => ({ model, prompt, number })));
  const off = cells.filter(
    ({ model, prompt }) =>
      !candidates.some((one) => one.model === model && (one.instructions ?? instructions) === prompt.contentId),
  );
  const grid = { ...setup, off: off.map(({ model, number }) => cellOf(model, number)) };
  if (same(candidatesOf(grid).map(bare), candidates.map(bare))) return grid;
  return { ...setup, prompts: prompts.slice(0, 1), candidates };
}

/** A candidate without what says nothing. */
function bare(candidate: Candidate): Partial<Candidate> {
  const says = (value: unknown) =>
    value !== null && value !== "off" && !(typeof value === "object" && Object.keys(value).length === 0);
  return Object.fromEntries(Object.entries(candidate).filter(([, value]) => says(value)));
}

/**
 * What a draft holds, and the version that was edited. Another program may have left parts out, which are as they are
 * saved; drafts of the form that presets once had hold a preset.
 */
export function begunOf(
  body: Record<string, unknown> | undefined,
  saved: Saved<Setup>,
): { value?: Setup; etag?: string | undefined } {
  if (!body) return { etag: saved.etag };
  const { value, etag, ...own } = body as { value?: PresetIn; etag?: string } & Partial<Setup>;
  const isPreset = Array.isArray((value as Partial<PresetIn> | undefined)?.generation?.candidates);
  return { value: { ...saved.value, ...own, ...(value && isPreset ? setupOf(value) : {}) }, etag: saved.etag && etag };
}

/** The checks, those of grades by the candidates that take part. */
function checksOf(checks: readonly AnswerCheck[], labels: readonly (string | undefined)[]): AnswerCheck[] {
  return checks.flatMap((check) => {
    if (check.kind !== "grade") return [check];
    const columns = Object.fromEntries(Object.entries(check.columns ?? {}).filter(([label]) => labels.includes(label)));
    return Object.keys(columns).length ? [{ ...check, columns }] : [];
  });
}

/**
 * The preset, as far as it can be made yet; the judges are those that the service takes for the models by default, unless
 * the user chose others.
 */
export function presetOf(setup: Setup, byDefault: DefaultJudges | undefined): PresetIn {
  const judges = (byDefault?.judges ?? []).map(({ model }) => ({ model }));
  const candidates = candidatesOf(setup);
  const checks = checksOf(
    setup.more.checks ?? [],
    candidates.map(({ label }) => label),
  );
  const preset: PresetIn = {
    tags: [],
    scoring: null,
    // Without a judge, checks decide.
    comparison: byDefault && !judges.length && checks.length ? null : { judges },
    ...setup.more,
    ...(checks.length ? { checks } : {}),
    name: setup.name.trim() || nameOf(setup.prompts[0]?.text ?? ""),
    ...(setup.rows ? { rows: setup.rows, references: {}, groups: null } : {}),
    instructions: (modelsOf(setup).length && contentOf(setup.prompts[0])) || null,
    generation: { ...setup.more.generation, candidates },
  };
  return withInputs(preset, setup.rows ? [] : [...setup.documents]);
}

/** The text of the library that a prompt is, unless somebody has emptied it. */
function contentOf({ text, contentId, kept }: Prompt = { text: "" }): string | undefined {
  return text || kept === undefined ? contentId : undefined;
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

/** Faults that the page tells in words of its own. */
const TOLD: ReadonlySet<string> = new Set(["name", "generation.candidates", "instructions", "scoring.criteria"]);

/** What is still missing, in the order of the page; a trial needs one candidate only, and no judge. */
export function missingIn(
  setup: Setup,
  isTrial = false,
  byDefault?: DefaultJudges,
  faults: Faults = new Map(),
): Missing[] {
  const missing: Missing[] = [];
  if (!setup.documents.length && !setup.rows)
    missing.push({ part: "inputs", words: "Bring documents, or try the sample." });
  const hasAnswers = setup.rows !== undefined && Boolean(setup.answers?.length);
  // One that is still to be fetched has no words yet.
  const isEmpty = ({ text, contentId, kept }: Prompt) => !text.trim() && !(contentId && kept === undefined);
  if (needsTask(setup) && setup.prompts.some(isEmpty)) missing.push({ part: "instructions", words: "Write the task." });
  const found = candidatesOf(setup).length;
  const least = setup.more.comparison === null ? 1 : 2;
  if (isTrial ? !modelsOf(setup).length : found < least)
    missing.push({
      part: "generation",
      words: hasAnswers ? "Pick a model to compete with the answers." : "Pick two models, or two prompts for one.",
    });
  const hasChecks = Boolean(setup.more.checks?.length);
  const hasJudges = setup.more.comparison === undefined ? hasChecks || byDefault?.judges.length !== 0 : true;
  if (!isTrial && found >= least && !hasJudges) missing.push({ part: "comparison", words: byDefault?.sentence ?? "" });
  // The service would call an id that nobody has chosen yet an unknown one.
  if (!isTrial && setup.more.scoring?.criteria === "")
    missing.push({ part: "scoring", words: "Choose the criteria by which answers are scored." });
  const isTold = (path: string) =>
    TOLD.has(path) ||
    (path === "inputs" && !setup.documents.length) ||
    (path === "comparison.judges" && setup.more.comparison === undefined);
  for (const [part, words] of faults) if (!isTold(part)) missing.push({ part, words });
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
