/** Groups of runs that can be ranked together, and what they are called. */
import type { Board } from "../../api/types";
import type { Formats } from "../../lib/format";

/** The newest first, whichever of them is shown. */
export function inOrder<B extends Pick<Board, "runs">>(groups: readonly B[]): B[] {
  const at = ({ runs }: B) => runs[0]?.finished_at ?? "";
  return groups.toSorted((one, other) => at(other).localeCompare(at(one)));
}

/** The name of its newest run. */
export function nameOf({ runs }: Pick<Board, "runs">): string {
  return runs[0]?.name ?? "";
}

export function sizeOf(group: Pick<Board, "documents" | "runs">, formats: Formats): string {
  return `${formats.counted(group.documents, "document")}, ${formats.counted(group.runs.length, "run")}`;
}

/** What all of its runs share. */
export function sharedBy({ documents, judges }: Pick<Board, "documents" | "judges">, formats: Formats): string {
  const by = judges.length < 2 ? judges.join("") : `${judges.slice(0, -1).join(", ")} and ${judges.at(-1) ?? ""}`;
  return `${formats.counted(documents, "document")} ${by ? `judged by ${by}` : "without a judge"}`;
}
