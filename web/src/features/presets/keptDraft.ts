/**
 * A preset that somebody is editing in this tab, kept over a reload. It holds ids, models and numbers. Texts never come
 * here: names, notes, checks and references stay in the encrypted workspace, or are lost with the page.
 */
import type { PresetIn } from "../../api/types";

const KEPT_AT = "carrel.preset";

interface Kept {
  preset: string;
  etag: string | undefined;
  part: Partial<PresetIn>;
}

/** What a reload brings back, on top of what is saved; nothing if another version was saved meanwhile. */
export function keptDraft(preset: string, etag: string | undefined, saved: PresetIn): PresetIn | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEPT_AT) ?? "null") as Kept | null;
    return kept?.preset === preset && kept.etag === etag ? { ...saved, ...kept.part } : undefined;
  } catch {
    return undefined;
  }
}

export function keepDraft(preset: string, etag: string | undefined, value: PresetIn | undefined): void {
  try {
    if (value && !holdsTexts(value))
      sessionStorage.setItem(KEPT_AT, JSON.stringify({ preset, etag, part: partOf(value) } satisfies Kept));
    else sessionStorage.removeItem(KEPT_AT);
  } catch {
    // A browser may refuse to keep anything; then a reload brings back what is saved.
  }
}

/** The parts that hold ids, models and numbers. */
function partOf({ inputs, instructions, generation, scoring, comparison, limits, rows }: PresetIn): Partial<PresetIn> {
  const part: Partial<PresetIn> = { generation };
  if (inputs) part.inputs = inputs;
  if (instructions !== undefined) part.instructions = instructions;
  if (scoring !== undefined) part.scoring = scoring;
  if (comparison !== undefined) part.comparison = comparison;
  if (limits !== undefined) part.limits = limits;
  if (rows !== undefined) part.rows = rows;
  return part;
}

/** A schema, or values by which rows are chosen: without them it would be another preset. */
function holdsTexts({ generation, rows }: PresetIn): boolean {
  return (
    Object.keys(rows?.where ?? {}).length > 0 || generation.candidates.some(({ response_schema }) => response_schema)
  );
}
