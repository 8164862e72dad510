/** The axes of charts. */

/** The end of an axis of which a quarter is a round number. */
export function niceEnd(value: number): number {
  if (!(value > 0)) return 1;
  const size = 10 ** Math.floor(Math.log10(value / 4));
  const step = [1, 1.5, 2, 2.5, 3, 4, 5, 7.5, 10].find((factor) => 4 * factor * size >= value) ?? 10;
  return 4 * step * size;
}
