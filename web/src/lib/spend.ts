/** What calls cost and how long they take, in words that never pass an unknown cost off as nothing. */
import type { Formats } from "./format";

interface Spend {
  cost: string;
  unknown_calls: number;
}

/** A cost, or `free` where there is nothing to pay. */
export function priced(cost: string, write: (cost: string) => string): string {
  return Number(cost) ? write(cost) : "free";
}

/** The known cost as a number; nothing where no cost is known. */
export function knownCost({ cost, unknown_calls }: Spend): number | null {
  return unknown_calls && !Number(cost) ? null : Number(cost);
}

/**
 * The known cost at a glance: `unknown` where no cost is known, and `from $1.20` where some calls come on top. What has
 * cost nothing is `free` once nothing more is to come.
 */
export function spentInBrief({ cost, unknown_calls }: Spend, formats: Formats, isOver = true): string {
  if (!unknown_calls) return isOver ? priced(cost, formats.briefDollars) : formats.briefDollars(cost);
  return Number(cost) ? `from ${formats.briefDollars(cost)}` : "unknown";
}

/** What stands under `spentInBrief` where calls have a cost that nobody knows. */
export function beyondBrief(spend: Spend, formats: Formats): string {
  const calls = unknownCalls(spend, formats);
  return calls && Number(spend.cost) ? `and ${calls}` : calls;
}

/** The known part of an estimate, and what comes on top of it. */
export function expected(known: string, calls: number, formats: Formats): { value: string; hint?: string } {
  if (!calls) return { value: priced(known, formats.briefDollars) };
  const unknown = `${formats.counted(calls, "call")} of unknown price`;
  return Number(known)
    ? { value: formats.briefDollars(known), hint: `and ${unknown}` }
    : { value: "unknown", hint: unknown };
}

/** The known cost exactly, and how many calls have one that nobody knows. */
export function spentExactly(spend: Spend, formats: Formats): string {
  const calls = unknownCalls(spend, formats);
  if (!calls) return formats.dollars(spend.cost);
  return Number(spend.cost) ? `${formats.dollars(spend.cost)} and ${calls}` : calls;
}

/** How many calls have a cost that nobody knows; nothing where all are known. */
export function unknownCalls({ unknown_calls: calls }: Spend, formats: Formats): string {
  if (!calls) return "";
  return `${formats.counted(calls, "call")} of unknown cost`;
}

/** The time of a call to as many digits as it deserves; a dash where nothing was timed. */
export function inTime(milliseconds: number | null, formats: Formats): string {
  if (milliseconds === null) return "–";
  if (milliseconds < 100) return `${formats.integer(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  return `${formats.decimal(seconds, seconds < 10 ? 1 : 0)} s`;
}

/** The cost of 1,000 answers, of which one costs so much. Costs have six places at most, so that nothing is rounded. */
export function perThousand(costPerAnswer: string): string {
  return (1000 * Number(costPerAnswer)).toFixed(3);
}
