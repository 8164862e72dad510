/** How many tasks each phase of a first round has, as far as that follows from the configuration. */
import type { Candidate, Configuration, Kind } from "../../../api/types";
import { PHASES } from "../../../lib/states";

export type PhaseTotals = Readonly<Record<Kind, number>>;

/**
 * `total` is what the service counts in all, with what looks saved. Where the sum is another, as in a later round, nothing is said rather than
 * something wrong.
 */
export function phaseTotals(configuration: Configuration, total: number): PhaseTotals | undefined {
  const { inputs, generation, scoring, comparison, combination } = configuration;
  const repeats = generation.candidates.map((candidate) => repeatsOf(candidate, generation.repeats ?? 1));
  const makers = combination?.candidates.length ?? 0;
  const marks = sum((scoring?.judges ?? []).map(({ model }) => (isFixed(model) ? 1 : (scoring?.repeats ?? 1))));
  const finalists = repeats.toSorted((one, other) => other - one).slice(0, comparison?.finalists ?? repeats.length);
  const orders = 2 * (comparison?.judges.length ?? 0);
  const withMakers = makers * sum(finalists) + (makers * (makers - 1)) / 2;
  const each: Record<Kind, number> = {
    generate: sum(repeats),
    score: (sum(repeats) + makers) * marks,
    compare: (meetings(finalists) + withMakers) * orders,
    combine: makers,
  };
  const totals: Record<Kind, number> = { generate: 0, score: 0, compare: 0, combine: 0 };
  // How many rows of a data set a run took is not in its configuration.
  const documents = inputs?.length || Math.round(total / sum(Object.values(each)));
  for (const kind of PHASES) totals[kind] = each[kind] * documents;
  return sum(Object.values(totals)) === total ? totals : undefined;
}

/** A model that always answers the same is asked once. */
function repeatsOf({ model }: Candidate, repeats: number): number {
  return !model || isFixed(model) ? 1 : repeats;
}

function isFixed(model: string): boolean {
  return model.startsWith("local:");
}

/** A pair is compared as often as its more frequent candidate answers. */
function meetings(repeats: readonly number[]): number {
  return sum(repeats.flatMap((one, index) => repeats.slice(index + 1).map((other) => Math.max(one, other))));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}
