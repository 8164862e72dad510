/** Shares and differences, and their 95 % intervals, as the user's locale writes them. */
import type { Formats } from "./format";

interface Estimate {
  low: number | null;
  high: number | null;
}

/** A figure and its interval; a dash where nothing is known, and no interval where a single document gives none. */
export interface Written {
  value: string;
  interval: string;
}

export function writtenShare({ share, low, high }: Estimate & { share: number | null }, formats: Formats): Written {
  return written(share, low, high, (value) => formats.percent(value));
}

export function writtenDifference(
  { difference, low, high }: Estimate & { difference: number | null },
  formats: Formats,
): Written {
  return written(difference, low, high, (value) => signed(value, formats));
}

/** From one end to the other. */
export function range(low: number, high: number, write: (value: number) => string): string {
  return `${write(low)} to ${write(high)}`;
}

/** A difference with its sign. */
export function signed(value: number, formats: Formats, digits = 2): string {
  return `${value > 0 ? "+" : ""}${formats.decimal(value, digits).replace("-", "−")}`;
}

function written(
  value: number | null,
  low: number | null,
  high: number | null,
  write: (value: number) => string,
): Written {
  const interval = low === null || high === null ? "" : range(low, high, write);
  return value === null ? { value: "–", interval: "" } : { value: write(value), interval };
}
