/** The positions of points and intervals of a ranking on its scale, in percent. */
import type { Ranking, Row } from "../api/types";

export interface Bar {
  at: number;
  low: number | undefined;
  high: number | undefined;
}

export interface Measure {
  value: number;
  low: number | null;
  high: number | null;
}

/**
 * What a run is ranked by: shares of pairs won, or scores (or rates of checks) where nothing was compared. The lower end of whoever is
 * first of several allows for the luck that helped to be first.
 */
export function measureOf(ranking: Ranking, row: Row): Measure | undefined {
  const byScore = ranking.basis !== "comparisons";
  const value = byScore ? row.score : row.win_share;
  if (value === null || value === undefined) return undefined;
  return {
    value,
    low: (byScore ? row.score_low : (row.first_low ?? row.low)) ?? null,
    high: (byScore ? row.score_high : row.high) ?? null,
  };
}

/** Shares from 0 to 1; the service scales scores to the same range. */
export function barOf(measure: Measure): Bar {
  const place = (value: number) => 100 * Math.min(1, Math.max(0, value));
  return {
    at: place(measure.value),
    low: measure.low === null ? undefined : place(measure.low),
    high: measure.high === null ? undefined : place(measure.high),
  };
}

/** Whether a judge has said anything that counts. */
export function isJudged({ rows, ...ranking }: Ranking): boolean {
  return rows.some((row) => measureOf({ rows, ...ranking }, row) !== undefined || typeof row.score === "number");
}
