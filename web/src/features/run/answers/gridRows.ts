/** The rows of the grid of answers: which documents are shown, in which order, and what a cell says. */
import type { DocumentReport, Report } from "../../../api/types";
import { type Kept, noteKey, type Notes } from "../useNotes";

type Verdict = NonNullable<DocumentReport["verdicts"]>[number];
export type Flag = "flip" | "failed" | "cut";
export const FILTERS = ["all", "flips", "failed", "disagreement", "kept"] as const;
export type Filter = (typeof FILTERS)[number];

export interface GridCell {
  candidate: string;
  /** The beginning of the answer, in one line; nothing where there is none. */
  beginning: string;
  share: number | null;
  score: number | null;
  words: number;
  flags: readonly Flag[];
  isAwaited: boolean;
  /** The report has no room for its text. */
  isLeftOut: boolean;
  /** What the person says of it. */
  kept: Kept | undefined;
}

export interface GridRow {
  document: string;
  name: string;
  cells: readonly GridCell[];
  flips: number;
  failed: number;
  disagrees: boolean;
}

const BEGINNING = 240;

/** A row for each document, its cells in the order of `candidates`. */
export function rowsOf(report: Report, candidates: readonly string[]): GridRow[] {
  return report.documents.map((document) => rowOf(document, candidates));
}

/** The same rows with what the person says of their answers; a star on one of thousands makes only its row anew. */
export function withNotes(rows: readonly GridRow[], notes: Notes): readonly GridRow[] {
  if (!notes.size) return rows;
  return rows.map((row) => {
    const kept = row.cells.map(({ candidate }) => notes.get(noteKey(row.document, candidate)));
    return kept.some(Boolean)
      ? { ...row, cells: row.cells.map((cell, column) => ({ ...cell, kept: kept[column] })) }
      : row;
  });
}

function rowOf(document: DocumentReport, candidates: readonly string[]): GridRow {
  const flipped = new Set(document.verdicts?.filter(({ fate }) => fate === "flip").flatMap(({ a, b }) => [a, b]) ?? []);
  const cells = candidates.map((candidate): GridCell => {
    const answer = document.answers.find((one) => one.candidate === candidate);
    const standing = document.standing.find((one) => one.candidate === candidate);
    const isAwaited = answer?.state === "pending" || answer?.state === "running";
    const flags: Flag[] = [];
    if (flipped.has(candidate)) flags.push("flip");
    if (answer && !answer.delivered && !isAwaited) flags.push("failed");
    if (answer?.finish_reason === "length") flags.push("cut");
    return {
      candidate,
      beginning:
        answer?.text
          ?.slice(0, BEGINNING)
          .replace(/[#*_`\s]+/g, " ")
          .trim() ?? "",
      share: standing?.win_share ?? null,
      score: standing?.score ?? null,
      words: answer?.words ?? 0,
      flags,
      isAwaited,
      isLeftOut: !!answer?.delivered && answer.text === null,
      kept: undefined,
    };
  });
  return {
    document: document.document,
    name: document.name,
    cells,
    flips: document.flips,
    failed: cells.filter(({ flags }) => flags.includes("failed")).length,
    disagrees: disagrees(document.verdicts ?? []),
  };
}

/** Whether two judges name opposite winners of the same two answers. */
function disagrees(verdicts: readonly Verdict[]): boolean {
  const winners = new Map<string, string>();
  for (const { a, b, fate, ab, repeat } of verdicts) {
    if (fate !== "agreed" || (ab !== "first" && ab !== "second")) continue;
    const pair = `${[a, b].toSorted().join("\n")} ${repeat}`;
    const winner = ab === "first" ? a : b;
    if ((winners.get(pair) ?? winner) !== winner) return true;
    winners.set(pair, winner);
  }
  return false;
}

const FITS: Record<Filter, (row: GridRow) => boolean> = {
  all: () => true,
  flips: ({ flips }) => flips > 0,
  failed: ({ failed }) => failed > 0,
  disagreement: ({ disagrees: differs }) => differs,
  kept: ({ cells }) => cells.some(({ kept }) => kept && (kept.starred || kept.note)),
};

export function fits(row: GridRow, filter: Filter): boolean {
  return FITS[filter](row);
}

export interface Sorting {
  /** A candidate, by whose share the rows are sorted; nothing for the order of the run. */
  by: string | undefined;
  isDescending: boolean;
}

/** The rows that fit the filter and hold the words, in the wanted order; rows without a figure come last. */
export function shownRows(
  rows: readonly GridRow[],
  filter: Filter,
  words: string,
  { by, isDescending }: Sorting,
): GridRow[] {
  const wanted = words.trim().toLowerCase();
  const found = rows.filter(
    (row) =>
      fits(row, filter) &&
      (!wanted ||
        [row.name, ...row.cells.flatMap(({ beginning, kept }) => [beginning, kept?.note ?? ""])].some((text) =>
          text.toLowerCase().includes(wanted),
        )),
  );
  if (!by) return found;
  const figure = (row: GridRow) => {
    const cell = row.cells.find(({ candidate }) => candidate === by);
    return cell?.share ?? cell?.score ?? null;
  };
  return found.toSorted((one, other) => {
    const [a, b] = [figure(one), figure(other)];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    return isDescending ? b - a : a - b;
  });
}
