/** Placeholders in braces, which are filled in when a run uses the text. */

/** Placeholders of a text, each once, in the order in which they come; the two reserved names are none. */
export function placeholders(body: string): string[] {
  const names = [...body.matchAll(/\{\{([^{}\x00-\x08\x0a-\x1f\x7f-\x9f]{1,116})\}\}/g)].map(([, name = ""]) =>
    name.normalize("NFC").trim().split(/\s+/).join(" "),
  );
  return [...new Set(names)].filter((name) => !["", "document", "reference"].includes(name));
}

/** The variables that a body needs: known ones keep their link, new ones are open, and those that went are dropped. */
export function variablesFor(body: string, before: Record<string, string | null>): Record<string, string | null> {
  return Object.fromEntries(placeholders(body).map((name) => [name, before[name] ?? null]));
}
