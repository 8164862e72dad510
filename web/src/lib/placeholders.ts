/** Placeholders in braces, which are filled in when a run uses the text. */

/** Placeholders of a text, each once, in the order in which they come; the two reserved names are none. */
export function placeholders(body: string): string[] {
  const names = [...body.matchAll(/\{\{[ \t]{0,8}([A-Za-z_][A-Za-z0-9_]{0,63})[ \t]{0,8}\}\}/g)].map(
    ([, name]) => name ?? "",
  );
  return [...new Set(names)].filter((name) => name !== "document" && name !== "reference");
}

/** The variables that a body needs: known ones keep their link, new ones are open, and those that went are dropped. */
export function variablesFor(body: string, before: Record<string, string | null>): Record<string, string | null> {
  return Object.fromEntries(placeholders(body).map((name) => [name, before[name] ?? null]));
}
