/** Whether the documents are enough, in a plain sentence; the service's own sentence says with what chance. */
import type { DryRun } from "../../api/types";
import type { Formats } from "../../lib/format";

/** Nothing where there is nothing to decide: without judges, or with one candidate. */
export function enoughInWords(power: DryRun["power"], formats: Formats): string | undefined {
  const { documents, chance_high: chance, documents_enough: enough } = power;
  const number = formats.counted(documents, "document");
  if (enough === null)
    return chance > 0 ? `${number} ${documents === 1 ? "is" : "are"} too few to find a clear winner.` : undefined;
  if (documents >= enough) return `${number} show a clear difference, if there is one.`;
  const may = chance < 0.5 ? `${documents === 1 ? "is" : "are"} hardly enough` : "may be enough";
  return `${number} ${may} to show a clear difference; ${formats.integer(enough)} are safer.`;
}
