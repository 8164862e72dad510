/** Shares and differences with their 95 % intervals, as the user's locale writes them. */
import type { Formats } from "./format";

interface Estimate {
  low: number | null;
  high: number | null;
}

/** `93 % (88 % to 97 %)`, or a dash where nothing is known. */
export function shareText({ share, low, high }: Estimate & { share: number | null }, formats: Formats): string {
  if (share === null) return "–";
  return formats.percent(share) + range(low, high, (value) => formats.percent(value));
}

/** `+0.10 (+0.02 to +0.18)`, or a dash where nothing is known. */
export function differenceText(
  { difference, low, high }: Estimate & { difference: number | null },
  formats: Formats,
): string {
  const signed = (value: number) => `${value > 0 ? "+" : ""}${formats.decimal(value)}`;
  return difference === null ? "–" : signed(difference) + range(low, high, signed);
}

function range(low: number | null, high: number | null, write: (value: number) => string): string {
  return low === null || high === null ? "" : ` (${write(low)} to ${write(high)})`;
}
