/** A preset while it is edited, and what is wrong with it as far as the page can tell by itself. */
import type {
  Candidate,
  GithubConnection,
  ContentSummary,
  Judge,
  Model,
  Output,
  Preset,
  PresetIn,
  Rows,
} from "../../api/types";

import { checkFaults } from "./checks";
import { branchFault, folderFault } from "../../lib/gitNames";

export type Faults = ReadonlyMap<string, string>;

/** The preset without the fields that the service adds. */
export function draftOf(preset: Preset): PresetIn {
  const own = new Set(["id", "version", "created_at", "updated_at"]);
  return Object.fromEntries(Object.entries(preset).filter(([name]) => !own.has(name))) as PresetIn;
}

export function shortName(model: string): string {
  return model.split(/[:/]/).at(-1) ?? model;
}

/** What a candidate is called that has no model yet. */
export const NEW_LABEL = "candidate";

/** The candidate with another model. A label that was made from the model before follows it; one of the user's stays. */
export function withModel(candidate: Candidate, model: string, others: readonly string[]): Candidate {
  const label = candidate.label ?? "";
  const made = candidate.model ? shortName(candidate.model) : NEW_LABEL;
  const isMade =
    !label || label === made || (label.startsWith(`${made} `) && /^\d+$/.test(label.slice(made.length + 1)));
  return {
    ...candidate,
    model: model || null,
    // Without a model it is called as a new one is, so that the next name that is typed makes its label again.
    ...(isMade ? { label: freeLabel(model ? shortName(model) : NEW_LABEL, others) } : {}),
  };
}

/** A label that no other candidate has. */
export function freeLabel(wanted: string, taken: readonly string[]): string {
  if (!taken.includes(wanted)) return wanted;
  for (let number = 2; ; number++) {
    const label = `${wanted} ${number}`;
    if (!taken.includes(label)) return label;
  }
}

/** The documents with these ids, in the order of the documents. */
export function chosenOf(documents: readonly ContentSummary[], ids: readonly string[] = []): ContentSummary[] {
  const chosen = new Set(ids);
  return documents.filter(({ id }) => chosen.has(id));
}

export interface Known {
  models: readonly Model[] | undefined;
  documents: readonly ContentSummary[] | undefined;
  connections?: readonly GithubConnection[] | undefined;
}

/** Whether no judge scores or compares the answers. */
export function isUnjudged({ scoring, comparison }: Pick<PresetIn, "scoring" | "comparison">): boolean {
  return !scoring && !comparison;
}

/** What the service would refuse, by the path of the field. The service checks again when the preset is saved. */
export function faultsOf(draft: PresetIn, known: Known): Faults {
  const faults = new Map<string, string>();
  if (!draft.name.trim()) faults.set("name", "Give it a name.");
  const { candidates } = draft.generation;
  const inputs = draft.inputs ?? [];
  if (!inputs.length && !draft.rows) faults.set("inputs", "Choose the documents that the candidates will work on.");
  const listed = known.documents && new Set(known.documents.map(({ id }) => id));
  const missing = listed ? inputs.filter((id) => !listed.has(id)).length : 0;
  if (missing)
    faults.set("inputs", `${missing} of the documents ${missing === 1 ? "is" : "are"} no longer in the library.`);
  if (!candidates.length) faults.set("generation.candidates", "Add a candidate.");
  else if (draft.comparison && candidates.length < 2)
    faults.set("generation.candidates", "Pairs need two candidates at least.");
  candidates.forEach((candidate, number) => candidateFaults(faults, candidate, number, draft, known));
  if (isUnjudged(draft)) {
    if (!draft.checks?.length && !candidates.some(({ model }) => model))
      faults.set("scoring", "Let judges score, compare, or both: there is nothing to generate.");
    if (draft.output && draft.output.destination !== "none" && (draft.output.answers ?? "best") === "best")
      faults.set("output.answers", "Without judges no candidate is best: choose all answers.");
  }
  if (draft.scoring && !draft.scoring.criteria) faults.set("scoring.criteria", "Choose or write the criteria.");
  judgeFaults(faults, "scoring.judges", draft.scoring?.judges, known);
  judgeFaults(faults, "comparison.judges", draft.comparison?.judges, known);
  for (const [path, fault] of checkFaults(draft.checks ?? [])) faults.set(path, fault);
  if (draft.output?.destination === "github") outputFaults(faults, draft.output, known);
  return faults;
}

function outputFaults(faults: Map<string, string>, { connection, path, branch }: Output, { connections }: Known): void {
  if (!connection) faults.set("output.connection", "Choose the repository that the answers go to.");
  else if (connections && !connections.some((one) => one.id === connection))
    faults.set("output.connection", "This repository is no longer connected.");
  const folder = folderFault(path ?? "");
  if (folder) faults.set("output.path", folder);
  const name = branchFault(branch ?? "");
  if (name) faults.set("output.branch", name);
}

function candidateFaults(
  faults: Map<string, string>,
  candidate: Candidate,
  number: number,
  draft: PresetIn,
  known: Known,
): void {
  const path = `generation.candidates[${number}]`;
  const existing = Object.keys(candidate.existing ?? {}).length;
  const isWhole = draft.rows
    ? Boolean(candidate.column)
    : existing > 0 && (draft.inputs ?? []).every((id) => candidate.existing?.[id]);
  const label = labelOf(candidate);
  if (draft.generation.candidates.some((other, index) => index < number && labelOf(other) === label))
    faults.set(`${path}.label`, "Another candidate has this label.");
  if (!candidate.model && !isWhole)
    faults.set(
      `${path}.model`,
      existing ? "Choose a model for the documents without an existing answer." : "Choose a model.",
    );
  modelFault(faults, `${path}.model`, candidate.model, "generate", known);
  if (candidate.model && !candidate.instructions && !draft.instructions)
    faults.set("instructions", "Choose or write the instructions, or give every candidate its own.");
}

function judgeFaults(
  faults: Map<string, string>,
  path: string,
  judges: readonly Judge[] | undefined,
  known: Known,
): void {
  if (!judges) return;
  if (!judges.length) faults.set(path, "Add a judge.");
  judges.forEach((judge, number) => modelFault(faults, `${path}[${number}].model`, judge.model, "judge", known));
}

function modelFault(
  faults: Map<string, string>,
  path: string,
  name: string | null | undefined,
  role: "generate" | "judge",
  known: Known,
): void {
  const model = known.models?.find((one) => one.model === name);
  // A model that is not in the catalogue may still be one of the user's own server; the service knows.
  if (!model) return;
  if (!model.roles.includes(role))
    faults.set(path, role === "judge" ? "This model cannot judge." : "This model only judges.");
  else if (!model.available) faults.set(path, model.reason ?? "This model cannot be called now.");
}

export function labelOf(candidate: Candidate): string {
  return candidate.label || candidate.model || "";
}

/**
 * Change the documents. References, texts and groups of documents that are left out are removed, because the service refuses
 * them.
 */
export function withInputs(draft: PresetIn, inputs: string[]): PresetIn {
  const ids = new Set(inputs);
  const isKept = (id: string) => ids.has(id);
  const kept = (pairs: Record<string, string>) =>
    Object.fromEntries(Object.entries(pairs).filter(([id]) => isKept(id)));
  // One that loses nothing stays the same one, so that its card is not drawn anew.
  const candidates = draft.generation.candidates.map((candidate) =>
    Object.keys(candidate.existing ?? {}).every(isKept)
      ? candidate
      : { ...candidate, existing: kept(candidate.existing ?? {}) },
  );
  return {
    ...draft,
    inputs,
    ...(draft.references ? { references: kept(draft.references) } : {}),
    ...(draft.groups?.of ? { groups: { ...draft.groups, of: kept(draft.groups.of) } } : {}),
    generation: { ...draft.generation, candidates },
  };
}

/** Take rows of a data set as inputs, or documents again. What goes with the other of the two is removed. */
export function withRows(draft: PresetIn, rows: Rows | null): PresetIn {
  const isOther = rows?.data_set !== draft.rows?.data_set;
  const candidates = draft.generation.candidates.map(({ existing, column, ...candidate }): Candidate => {
    if (!rows) return existing ? { ...candidate, existing } : candidate;
    return column && !isOther ? { ...candidate, column } : candidate;
  });
  return {
    ...draft,
    ...(rows ? { inputs: [], references: {}, groups: null } : {}),
    rows,
    generation: { ...draft.generation, candidates },
  };
}

/**
 * Documents without a reference, and the one text whose name says that it is theirs: "Report" and "Report, reference".
 */
export function suggestedReferences(
  documents: readonly ContentSummary[],
  texts: readonly ContentSummary[],
  references: Record<string, string>,
): Map<string, string> {
  const found = new Map<string, string>();
  for (const document of documents) {
    const stem = stemOf(document.name);
    const fitting = texts.filter((text) => stemOf(text.name) === stem);
    if (stem && !references[document.id] && fitting.length === 1 && fitting[0]) found.set(document.id, fitting[0].id);
  }
  return found;
}

function stemOf(name: string): string {
  return name
    .toLowerCase()
    .replace(/\.(md|markdown|txt|html|csv|pdf|doc[xm]|ppt[xm]|eml|mbox)$/, "")
    .replace(/\b(reference|ref|gold|expected)\b/g, "")
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

const FIELDS: Record<string, string> = {
  inputs: "documents",
  rows: "rows",
  generation: "candidates",
  scoring: "scoring",
  comparison: "comparing",
  combination: "combining",
  output: "where the answers go",
  groups: "documents",
  billing: "payment",
  economy: "payment",
  reuse: "payment",
  checks: "checks",
  headline: "who decides",
};

/** What a part of a preset is called on the page. */
export function wordsForField(field: string): string {
  return FIELDS[field] ?? field;
}
