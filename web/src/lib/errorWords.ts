/** What an error says to people: the service's sentence, without what only programs can look up. */
export function wordsForError(error: unknown): string {
  if (!(error instanceof Error)) return "Something went wrong.";
  return error.message.replace(/; see errors\.$/, ".");
}
