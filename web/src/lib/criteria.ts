/** Criteria as rows, and the YAML that the service keeps of them. Each value is the text that its user wrote. */
import type { CriterionRow } from "../api/types";

/** Nothing in it means anything to YAML, wherever it stands in a list of fields. */
const PLAIN = /^[\p{L}\p{N}(](?:[\p{L}\p{M}\p{N}\p{P}\p{S} ]*[^\s:])?$/u;
/** JSON leaves these as they are, but YAML refuses them or takes them for the end of a line. */
const UNREADABLE = /[\u007f-\u009f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]/gu;

export const NO_ROW: CriterionRow = { name: null, description: null, weight: null, minimum: null, maximum: null };

/** The YAML of rows, which the service reads back as the same rows. Values that nobody gave do not stand in it. */
export function yamlOf(rows: readonly CriterionRow[]): string {
  return rows.map(entryOf).join("");
}

function entryOf({ name, description, weight, minimum, maximum }: CriterionRow): string {
  const scale = [
    ...(minimum === null ? [] : [`min: ${number(minimum)}`]),
    ...(maximum === null ? [] : [`max: ${number(maximum)}`]),
  ];
  const lines = [
    `name: ${scalar(name ?? "")}`,
    ...(description === null ? [] : [`description: ${scalar(description)}`]),
    ...(weight === null ? [] : [`weight: ${number(weight)}`]),
    ...(scale.length ? [`scale: {${scale.join(", ")}}`] : []),
  ];
  return `- ${lines.join("\n  ")}\n`;
}

/** Plain words as they are; everything else in quotes, as in JSON, which YAML reads, too. */
function scalar(text: string): string {
  return PLAIN.test(text) && !/: | #/.test(text) ? text : quoted(text);
}

function number(text: string): string {
  return /^-?[0-9]+(\.[0-9]+)?$/.test(text) ? text : quoted(text);
}

function quoted(text: string): string {
  return JSON.stringify(text).replace(UNREADABLE, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** How much of the whole each row counts, from 0 to 1; undefined as long as a weight is no number. */
export function sharesOf(rows: readonly CriterionRow[]): number[] | undefined {
  const weights = rows.map(({ weight }) => (weight === null ? 1 : Number(weight)));
  const sum = weights.reduce((all, one) => all + one, 0);
  return weights.every((weight) => weight > 0) && Number.isFinite(sum)
    ? weights.map((weight) => weight / sum)
    : undefined;
}
