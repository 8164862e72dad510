/** The tags in a text with commas between them, each once. */
export function tagsIn(text: string): string[] {
  return [...new Set(text.split(",").map((tag) => tag.trim()))].filter(Boolean);
}

/** Whether the words are in the name or in a tag of something; without words, everything is found. */
export function isFound(words: string, { name, tags }: { name: string; tags: readonly string[] }): boolean {
  const wanted = words.trim().toLowerCase();
  return !wanted || [name, ...tags].some((text) => text.toLowerCase().includes(wanted));
}
