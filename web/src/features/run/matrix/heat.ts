/** The colours of a heat map: blue and orange, which people who see few colours tell apart too. */

/** The deepest colour on which a number is still easy to read. */
const DEEPEST = 44;

/** A share from 0 to 1: blue above one half, orange below, none at one half. */
export function around(share: number): { background: string } {
  const distance = 2 * bounded(share) - 1;
  return { background: mix(distance < 0 ? "--heat-low" : "--heat-high", Math.abs(distance)) };
}

/** The colour of a value from 0 to 1: the higher, the deeper. */
export function upwards(part: number): { background: string } {
  return { background: mix("--heat-high", bounded(part)) };
}

function mix(colour: string, strength: number): string {
  return `color-mix(in oklab, var(${colour}) ${(DEEPEST * strength).toFixed(1)}%, transparent)`;
}

function bounded(value: number): number {
  return Math.min(1, Math.max(0, value));
}
