/** Another round over the same answers: what differs from the present one, and what it takes. */
import type { Configuration, DryRun, Judge } from "../../../api/types";
import type { Formats } from "../../../lib/format";

/** What is not as in the present round, in words. */
export function differences(before: readonly string[], after: readonly string[], hasOtherCriteria: boolean): string {
  const dropped = before.filter((one) => !after.includes(one));
  const added = after.filter((one) => !before.includes(one));
  const parts = [
    ...(added.length ? [`${listed(added)} ${added.length === 1 ? "judges" : "judge"} as well`] : []),
    ...(dropped.length ? [`${listed(dropped)} ${dropped.length === 1 ? "does" : "do"} not judge`] : []),
    ...(hasOtherCriteria ? ["the criteria are others"] : []),
  ];
  if (!parts.length)
    return "Nothing differs: the same judges are asked the same again, so only chance changes the result.";
  return `What differs: ${parts.join("; ")}. The answers stay as they are.`;
}

interface Asked {
  judges: readonly Judge[];
  /** The id of other criteria, or nothing. */
  criteria: string;
}

/** The run's configuration with these judges, and without any, to tell what judging costs by itself. */
export function judgedBy(configuration: Configuration, { judges, criteria }: Asked): [Configuration, Configuration] {
  const { scoring, comparison, ...rest } = configuration;
  const bare = { ...rest, combination: null, reuse: false };
  const chosen = [...judges];
  const wanted = criteria || scoring?.criteria;
  const scores = scoring ? { ...scoring, judges: chosen, ...(criteria ? { criteria } : {}) } : undefined;
  const isUnjudged = !scoring && !comparison;
  const found: Configuration = {
    ...bare,
    ...(scores ? { scoring: scores } : isUnjudged && wanted ? { scoring: { judges: chosen, criteria: wanted } } : {}),
    ...(comparison || isUnjudged ? { comparison: { ...comparison, judges: chosen } } : {}),
  };
  return [found, bare];
}

/** The calls of judges and what they cost: what the run takes with judges, less what it takes without. */
export function judgingCost(judged: DryRun, bare: DryRun, formats: Formats): string {
  const number = judged.calls.score + judged.calls.compare;
  const calls = formats.counted(number, "call");
  const [likely, most] = [less(judged.likely_cost, bare.likely_cost), less(judged.worst_cost, bare.worst_cost)];
  if (likely === undefined || most === undefined) return `This takes ${calls} of unknown price.`;
  if (most <= 0) return `This takes ${calls}, which cost nothing.`;
  const dollars = (amount: number) => formats.briefDollars(amount.toFixed(6));
  return `This takes ${calls} and costs about ${dollars(likely)}, at most ${dollars(most)}.`;
}

function less(cost: string | null, without: string | null): number | undefined {
  return cost === null || without === null ? undefined : Math.max(0, Number(cost) - Number(without));
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1) ?? ""}`;
}
