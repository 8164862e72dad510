/** The candidates of a run by their labels, in the order that their marks follow. */
import type { Run } from "../api/types";

export function labelsOf({ generation, combination }: Run["configuration"]): (string | undefined)[] {
  return [...generation.candidates, ...(combination?.candidates ?? [])].map(({ label }) => label);
}

/** The number of a candidate's mark, by its name: its place among the candidates of the report. */
export function numbersIn(candidates: readonly { candidate: string }[]): (name: string) => number {
  return (name) => candidates.findIndex(({ candidate }) => candidate === name);
}
