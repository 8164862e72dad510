/** The documents on which one candidate is worse than another, the worst first. */
import type { Figures } from "../../../api/types";

export interface Worse {
  /** The number of the document. */
  document: number;
  better: number;
  worse: number;
}

export function worseOn({ documents, candidates }: Figures, first: string, beside: string): Worse[] {
  const [a, b] = [first, beside].map((name) => candidates.find(({ candidate }) => candidate === name));
  if (!a || !b) return [];
  const of = (one: typeof a, at: number) => one.win_share[at] ?? one.score[at] ?? one.checks[at] ?? null;
  const found: Worse[] = [];
  for (let at = 0; at < documents; at++) {
    const [better, worse] = [of(a, at), of(b, at)];
    if (better !== null && worse !== null && worse < better) found.push({ document: at + 1, better, worse });
  }
  return found.toSorted((one, other) => one.worse - one.better - (other.worse - other.better));
}
