/**
 * Weights of judges as an address says them, `local:reader=0.5,local:statistician=0`: those that differ from the run's.
 */

const MOST = 1000;

type Weights = ReadonlyMap<string, number>;

export function textOfWeights(weights: Weights, before: Weights): string | undefined {
  const changed = [...weights].filter(([judge, weight]) => weight !== before.get(judge));
  return (
    changed.map(([judge, weight]) => `${judge.replace(/[%,=]/g, encodeURIComponent)}=${weight}`).join(",") || undefined
  );
}

/** The weights of all judges of the run. Other judges in the address, and values that are not weights, are ignored. */
export function weightsIn(text: string | undefined, before: Weights): Weights {
  const weights = new Map(before);
  for (const pair of text?.split(",") ?? []) {
    const [name = "", number = ""] = pair.split("=");
    const [judge, weight] = [unescaped(name), number.trim() ? Number(number) : Number.NaN];
    if (weights.has(judge) && weight >= 0 && weight <= MOST) weights.set(judge, weight);
  }
  return weights;
}

function unescaped(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
