/** What a comparison of two runs says, in sentences that are as strong as the intervals and no stronger. */
import type { Against, AgainstRow, PairedDifference } from "../../../api/types";
import type { Formats } from "../../../lib/format";
import { range } from "../../../lib/intervals";
import { named, type Part } from "../../../lib/sentence";

type Scale = NonNullable<Against["scale"]>;
const UNITS: Record<Scale, string> = {
  checks: "points of checks passed",
  score: "on a scale from 0 to 1",
  win_share: "points of preference",
};
const BETTER: Record<Scale, [string, string, string]> = {
  checks: ["passes", "more checks", "fewer checks"],
  score: ["scores", "higher", "lower"],
  win_share: ["is preferred", "more often", "less often"],
};

/** A figure of the scale: scores are from 0 to 1, win shares are percentages. */
export function figureOf(value: number, scale: Scale, formats: Formats): string {
  return scale === "score" ? formats.decimal(value) : formats.percent(value);
}

/** A difference with its sign; those of win shares are in points. */
export function differenceOf(value: number, scale: Scale, formats: Formats): string {
  const size = Math.abs(value);
  const digits = size > 0 && size < 0.005 ? 1 : 0;
  const written = scale === "score" ? formats.decimal(size, 2 + digits) : formats.decimal(100 * size, digits);
  return `${value > 0 ? "+" : value < 0 ? "−" : ""}${written}`;
}

export interface Told {
  sentence: Part[];
  /** The mean difference and its interval, for those who want the figures. */
  figures: string;
}

/** What the shared documents tell about one candidate; nothing if it took part in only one of the runs. */
export function toldOf(row: AgainstRow, against: Against, formats: Formats): Told | undefined {
  const { scale } = against;
  if (!row.here || !row.there) return undefined;
  const found = scale && row[scale];
  if (!scale || !found)
    return { sentence: ["No document in both has a figure of ", { candidate: row.candidate }, "."], figures: "" };
  return { sentence: sentenceOf(row.candidate, found, scale), figures: figuresOf(found, scale, formats) };
}

function sentenceOf(candidate: string, found: PairedDifference, scale: Scale): Part[] {
  const [what, more, less] = BETTER[scale];
  if (found.low === null)
    return ["One document, or one group of documents, does not tell how ", { candidate }, " differs."];
  if (found.outcome === "better") return [{ candidate }, ` ${what} ${more} here.`];
  if (found.outcome === "worse") return [{ candidate }, ` ${what} ${less} here.`];
  return [{ candidate }, ": no difference can be told from chance."];
}

function figuresOf({ difference, low, high, documents }: PairedDifference, scale: Scale, formats: Formats): string {
  const write = (value: number) => differenceOf(value, scale, formats);
  const unit = UNITS[scale];
  const interval = low === null || high === null ? "" : ` (${range(low, high, write)})`;
  const on = formats.counted(documents, "document");
  return `${write(difference)}${interval} ${unit}, on ${on}`;
}

/** What the difference may come from besides the candidates themselves; empty if the judges judged alike. */
export function doubtOf({ changes, scale }: Against): string {
  const differ = [
    changes.judges.here.length + changes.judges.there.length + changes.changed_judges.length > 0 && "the judges",
    changes.questions.length > 0 && "the questions to them",
    changes.criteria.here.length + changes.criteria.there.length + changes.changed_criteria.length > 0 &&
      "the criteria",
  ].filter((one) => one !== false);
  const judged = differ.length
    ? `Other things differ too: ${listed(differ)}. A difference between the two may come from them.`
    : "";
  const relative =
    scale === "win_share"
      ? "Shares of wins are set side by side here. A share rises, too, when another candidate becomes worse."
      : "";
  return [judged, relative].filter(Boolean).join(" ");
}

/** Everything that changed but the instructions, a line for each. */
export function changesOf({ changes }: Against, formats: Formats): Part[][] {
  const lines = changes.models.map(({ candidate, here, there }): Part[] => [
    { candidate },
    `: ${here ?? "existing answers"} here, ${there ?? "existing answers"} there.`,
  ]);
  const marked = (names: readonly string[]) => named(names, " and ");
  const plain = (names: readonly string[]) => [listed(names)];
  if (changes.parameters.length) lines.push(["Other parameters: ", ...marked(changes.parameters), "."]);
  lines.push(...onlyIn("Candidates", changes.candidates, marked));
  lines.push(...onlyIn("Judges", changes.judges, plain));
  if (changes.changed_judges.length)
    lines.push([`Judges with another weight, other repeats or parameters: ${listed(changes.changed_judges)}.`]);
  lines.push(...onlyIn("Criteria", changes.criteria, plain));
  if (changes.changed_criteria.length)
    lines.push([`Criteria with another meaning, weight or scale: ${listed(changes.changed_criteria)}.`]);
  const documents = ([count, where]: [number, string]) =>
    count ? [[`${formats.integer(count)} ${count === 1 ? "document is" : "documents are"} only ${where}.`]] : [];
  lines.push(
    ...documents([changes.documents_only_here, "here"]),
    ...documents([changes.documents_only_there, "there"]),
  );
  return lines;
}

type Write = (names: readonly string[]) => Part[];

function onlyIn(what: string, { here, there }: { here: string[]; there: string[] }, write: Write): Part[][] {
  const only = (names: string[], where: string) =>
    names.length ? [[`${what} only ${where}: `, ...write(names), "."]] : [];
  return [...only(here, "here"), ...only(there, "there")];
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1) ?? ""}`;
}
