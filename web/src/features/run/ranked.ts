/** The ranking that a report shows: by what judges said, or else by the checks that answers pass. */
import type { Ranking, Report } from "../../api/types";

/** Of a run that nobody judged, the rate of passing stands where scores stand, and gives the places. */
export function rankedIn({ ranking, checks }: Report): Ranking {
  if (ranking.basis !== "checks" || ranking.measure === "macro_f1" || !checks) return ranking;
  const rates = new Map(checks.rows.map(({ candidate, required, mean }) => [candidate, required ?? mean]));
  const shares = [...rates.values()].flatMap(({ share }) => share ?? []);
  const rows = ranking.rows.map((row) => {
    const { share = null, low = null, high = null } = rates.get(row.candidate) ?? {};
    const place = share === null ? null : 1 + shares.filter((one) => one > share).length;
    return { ...row, place, score: share, score_low: low, score_high: high };
  });
  return { ...ranking, rows: rows.toSorted((one, other) => (one.place ?? Infinity) - (other.place ?? Infinity)) };
}
