/** Sentences about candidates, in which a name is told from the words, because it has a mark. */
export type Part = string | { candidate: string };

/** Names one after the other, with these words before the last. */
export function named(names: readonly string[], last = ", "): Part[] {
  return names.flatMap((candidate, at) => {
    const before = at === 0 ? [] : [at === names.length - 1 ? last : ", "];
    return [...before, { candidate }];
  });
}
