/** Whether the documents are enough, in a plain sentence; the service's own sentence says with what chance. */
import type { DryRun } from "../../api/types";
import type { Formats } from "../../lib/format";

/** Nothing where there is nothing to decide: without judges, or with one candidate. */
export function enoughInWords(power: DryRun["power"], formats: Formats): string | undefined {
  const { documents, chance_high: chance, documents_enough: enough } = power;
  const number = `${formats.integer(documents)} ${documents === 1 ? "document" : "documents"}`;
  if (enough === null) return chance > 0 ? `${number} will hardly find a clear winner.` : undefined;
  if (documents >= enough) return `${number} will probably find a clear winner.`;
  return `${number} ${chance < 0.5 ? "will hardly" : "may"} find a clear winner; ${formats.integer(enough)} are safer.`;
}
