/** What the cells of the matrix show, by the numbers of documents. */
import type { Figures } from "../../../api/types";

export const MEASURES = ["win_share", "score", "checks"] as const;
export type Measure = (typeof MEASURES)[number];

/** The figures of one candidate; of documents that were not judged there is none. */
export interface Column {
  candidate: string;
  values: readonly (number | null)[];
}

/** The measures of which there is any figure. */
export function measuresIn(figures: Figures): Measure[] {
  return MEASURES.filter((measure) => figures.candidates.some((candidate) => candidate[measure].length));
}

/** The columns in the order of `candidates`, and the lowest and the highest value. */
export function columnsOf(figures: Figures, candidates: readonly string[], measure: Measure) {
  const columns = candidates.flatMap((candidate): Column[] => {
    const found = figures.candidates.find((one) => one.candidate === candidate);
    return found ? [{ candidate, values: found[measure] }] : [];
  });
  let [low, high] = [Infinity, -Infinity];
  for (const { values } of columns)
    for (const value of values) if (value !== null) [low, high] = [Math.min(low, value), Math.max(high, value)];
  return { columns, low, high };
}
