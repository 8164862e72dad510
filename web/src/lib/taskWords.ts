/** The tasks of a run in words: nobody but a programmer knows what `r1.compare.d13.c1-c2.s1.j1.ab` is. */
import type { Kind, Run } from "../api/types";
import { wordsForKind } from "./states";

const KEY = /^r\d+\.([a-z]+)\.d(\d+)\.c(\d+)(?:-c(\d+))?(?:\.s(\d+))?(?:\.j\d+)?(?:\.(?:s(\d+)|(ab|ba)))?$/;

/** The names of a run's candidates, in the order in which keys count them. */
export function namesOf({ generation, combination }: Run["configuration"]): string[] {
  return [...generation.candidates, ...(combination?.candidates ?? [])].map(
    ({ label, model }) => label || model || "existing texts",
  );
}

/** The number of the document that a task is about. */
export function documentOf(key: string): number {
  return Number(KEY.exec(key)?.[2] ?? 0);
}

/**
 * `r1.compare.d13.c1-c2.s1.j1.ba` as "Pair: Mail 4, mini · A before luna · B"; a document whose name is not known yet is
 * told by its number.
 */
export function taskInWords(key: string, names: readonly string[], documents?: ReadonlyMap<number, string>): string {
  const [, kind, document, first, second, repeat, again, order] = KEY.exec(key) ?? [];
  if (!kind || !document) return "";
  const name = (ordinal: string | undefined) => (ordinal ? (names[Number(ordinal) - 1] ?? `candidate ${ordinal}`) : "");
  const shown = [name(first), name(second)].filter(Boolean);
  const who = (order === "ba" ? shown.reverse() : shown).join(" before ");
  return [
    `${wordsForKind(kind as Kind)}: ${documents?.get(Number(document)) ?? `document ${document}`}, ${who}`,
    Number(repeat ?? 1) > 1 && `repeat ${repeat}`,
    Number(again ?? 1) > 1 && `judged again (${again})`,
  ]
    .filter(Boolean)
    .join(", ");
}
