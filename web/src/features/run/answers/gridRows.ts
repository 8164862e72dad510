/** The rows of the grid of answers: which documents are shown, in which order, and what a cell says. */
import type { AnswerBeginnings, Figures } from "../../../api/types";
import { numbersIn } from "../../../lib/candidates";
import { type Kept, noteKey, type Notes } from "../useNotes";

export type Flag = "flip" | "failed" | "cut";
export const FILTERS = ["all", "flips", "failed", "checks", "disagreement", "kept"] as const;
export type Filter = (typeof FILTERS)[number];

/** The figures of one candidate, by the numbers of documents. */
interface Column {
  candidate: string;
  /** Its place in the plan, which the beginnings of answers follow. */
  place: number;
  shares: readonly (number | null)[];
  scores: readonly (number | null)[];
  checks: readonly (number | null)[];
  flags: Readonly<Record<Flag | "awaited", ReadonlySet<number>>>;
}

/** The figures of all answers; it holds no texts. */
export interface Grid {
  documents: number;
  columns: readonly Column[];
  flips: readonly number[];
  disagreements: ReadonlySet<number>;
}

export interface GridCell {
  candidate: string;
  /** The beginning of the answer, in one line; nothing where there is none, or it is still to come. */
  beginning: string;
  share: number | null;
  score: number | null;
  /** The mean of its marks. */
  checks: number | null;
  /** Its mark of each check, in the order of the checks. */
  marks: readonly (number | null)[];
  flags: readonly Flag[];
  isAwaited: boolean;
  /** What the person says of it. */
  kept: Kept | undefined;
}

export interface GridRow {
  document: string;
  /** Nothing while it is still to come. */
  name: string | undefined;
  /** How it begins, in one line. */
  question: string;
  cells: readonly GridCell[];
}

/** The grid with its columns in the order of `candidates`. */
export function gridOf(figures: Figures, candidates: readonly string[]): Grid {
  const columns = candidates.flatMap((candidate) => {
    const place = numbersIn(figures.candidates)(candidate);
    const found = figures.candidates[place];
    if (!found) return [];
    const flags = {
      flip: new Set(found.flipped),
      failed: new Set(found.failed),
      cut: new Set(found.cut_off),
      awaited: new Set(found.awaited),
    };
    return [{ candidate, place, shares: found.win_share, scores: found.score, checks: found.checks, flags }];
  });
  return {
    documents: figures.documents,
    columns,
    flips: figures.flips,
    disagreements: new Set(figures.disagreements),
  };
}

/** The very characters of a text; only where its lines end does not show. */
function inOneLine(text: string | null | undefined): string {
  return text?.replace(/\s+/g, " ").trim() ?? "";
}

const FLAGS: readonly Flag[] = ["flip", "failed", "cut"];

/** The row of the document with this number; `beginnings` are there once they have been fetched. */
export function rowOf(grid: Grid, number: number, beginnings: AnswerBeginnings | undefined, notes: Notes): GridRow {
  const document = `d${number}`;
  return {
    document,
    name: beginnings?.name,
    question: inOneLine(beginnings?.question),
    cells: grid.columns.map(({ candidate, place, shares, scores, checks, flags }) => ({
      candidate,
      beginning: inOneLine(beginnings?.answers[place]),
      marks: beginnings?.checks[place] ?? [],
      share: shares[number - 1] ?? null,
      score: scores[number - 1] ?? null,
      checks: checks[number - 1] ?? null,
      flags: FLAGS.filter((flag) => flags[flag].has(number)),
      isAwaited: flags.awaited.has(number),
      kept: notes.get(noteKey(document, candidate)),
    })),
  };
}

function fits(grid: Grid, notes: Notes): Record<Filter, (number: number) => boolean> {
  const kept = new Set([...notes].filter(([, { starred, note }]) => starred || note).map(([key]) => key.split(" ")[0]));
  return {
    all: () => true,
    flips: (number) => (grid.flips[number - 1] ?? 0) > 0,
    failed: (number) => grid.columns.some(({ flags }) => flags.failed.has(number)),
    checks: (number) => grid.columns.some(({ checks }) => (checks[number - 1] ?? 1) < 1),
    disagreement: (number) => grid.disagreements.has(number),
    kept: (number) => kept.has(`d${number}`),
  };
}

/** How many documents fit each filter. */
export function counted(grid: Grid, notes: Notes): Record<Filter, number> {
  const fit = fits(grid, notes);
  const count = (filter: Filter) => {
    let found = 0;
    for (let number = 1; number <= grid.documents; number++) if (fit[filter](number)) found++;
    return found;
  };
  return Object.fromEntries(FILTERS.map((filter) => [filter, count(filter)])) as Record<Filter, number>;
}

export interface Sorting {
  /** A candidate, by whose share the rows are sorted; nothing for the order of the run. */
  by: string | undefined;
  isDescending: boolean;
}

/** Which documents are shown: `words` were found in those of `found`, and in notes. */
export interface Wanted {
  filter: Filter;
  words: string;
  found: readonly number[] | undefined;
  sorting: Sorting;
}

/** The numbers of the documents that are wanted, in the wanted order; those without a figure come last. */
export function shownDocuments(grid: Grid, notes: Notes, { filter, words, found, sorting }: Wanted): number[] {
  const fit = fits(grid, notes)[filter];
  const noted = [...notes]
    .filter(([, { note }]) => note.toLowerCase().includes(words.toLowerCase()))
    .map(([key]) => Number(key.slice(1, key.indexOf(" "))));
  const hits = words ? new Set([...(found ?? []), ...noted]) : undefined;
  const shown: number[] = [];
  for (let number = 1; number <= grid.documents; number++)
    if (fit(number) && (hits?.has(number) ?? true)) shown.push(number);
  const column = grid.columns.find(({ candidate }) => candidate === sorting.by);
  if (!column) return shown;
  const figure = (number: number) =>
    column.shares[number - 1] ?? column.scores[number - 1] ?? column.checks[number - 1] ?? null;
  return shown.toSorted((one, other) => {
    const [a, b] = [figure(one), figure(other)];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    return sorting.isDescending ? b - a : a - b;
  });
}
