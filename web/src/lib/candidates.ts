/** The candidates of a run by their labels, in the order that their marks follow. */
import type { Run } from "../api/types";

export function labelsOf({ generation, combination }: Run["configuration"]): (string | undefined)[] {
  return [...generation.candidates, ...(combination?.candidates ?? [])].map(({ label }) => label);
}
