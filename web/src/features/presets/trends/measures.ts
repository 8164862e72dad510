/** What can be followed over the runs of a preset, and its values. */
import type { TrendPoint, Trends } from "../../../api/types";

export interface Measure {
  id: string;
  label: string;
  /** A share from 0 to 1, or a difference around 0 that reaches this far. */
  reach: number | undefined;
}

export interface Value {
  value: number;
  low: number | null;
  high: number | null;
}

const AGAINST = "against";
const PREFERRED = "preferred";
const CHECKS = "checks";
const CHECK = "check:";

/** Those that some run knows, what tells most first. */
export function measuresOf(trends: Trends): Measure[] {
  const { baseline, points, checks } = trends;
  const scored = points.some((point) => point.basis === "scores");
  const preferred = { id: PREFERRED, label: scored ? "Score" : "Share preferred", reach: undefined };
  // Without a baseline, checks say which run is good.
  const all: Measure[] = [
    { id: AGAINST, label: `Against ${baseline ?? ""}`, reach: scored ? 1 : 0.5 },
    ...(baseline === null ? [] : [preferred]),
    { id: CHECKS, label: checks.length === 1 ? `Check: ${checks[0] ?? ""}` : "Checks passed", reach: undefined },
    ...(checks.length === 1
      ? []
      : checks.map((name) => ({ id: CHECK + name, label: `Check: ${name}`, reach: undefined }))),
    ...(baseline === null ? [preferred] : []),
  ];
  return all.filter((measure) => points.some((point) => valueOf(point, measure)));
}

/** The value of a run, or nothing where it has none. */
export function valueOf(point: TrendPoint, { id }: Pick<Measure, "id">): Value | undefined {
  if (id === AGAINST) {
    const { against } = point;
    return against ? { value: against.difference, low: against.low, high: against.high } : undefined;
  }
  const rate =
    id === PREFERRED
      ? point.preferred
      : id === CHECKS
        ? point.passes
        : point.checks?.find(({ check }) => CHECK + check === id)?.rate;
  return rate && rate.share !== null ? { value: rate.share, low: rate.low, high: rate.high } : undefined;
}
