/** The kinds of checks, the fields that each has, and what is missing in a check. */
import type { AnswerCheck } from "../../api/types";

export type Kind = AnswerCheck["kind"];
type Field = Exclude<keyof AnswerCheck, "kind" | "name" | "required">;

export const KINDS: Record<Kind, { label: string; fields: readonly Field[] }> = {
  contains: { label: "Contains texts", fields: ["texts", "expected", "column", "ignore_case", "ignore_space"] },
  not_contains: {
    label: "Contains none of some texts",
    fields: ["texts", "expected", "column", "ignore_case", "ignore_space"],
  },
  forbidden: { label: "Has no forbidden words", fields: ["texts"] },
  regex: { label: "Matches a pattern", fields: ["pattern", "column", "ignore_case"] },
  equals: {
    label: "Equals the expected answer",
    fields: ["expected", "column", "tolerance", "ignore_case", "ignore_space"],
  },
  fields: {
    label: "Has the fields of the expected JSON",
    fields: ["expected", "column", "tolerance", "least", "ignore_case", "ignore_space"],
  },
  json: { label: "Is JSON", fields: ["column"] },
  json_schema: { label: "Follows a JSON schema", fields: ["schema", "column"] },
  length: { label: "Has a length", fields: ["least", "most", "column"] },
  rouge_l: { label: "Overlaps with the expected answer by words (ROUGE-L)", fields: ["expected", "column", "least"] },
  chrf: { label: "Overlaps with the expected answer by characters (chrF)", fields: ["expected", "column", "least"] },
  grade: { label: "Has a grade from another program", fields: ["columns", "least"] },
};
const SHARES: readonly Kind[] = ["fields", "rouge_l", "chrf", "grade"];

/** Whether the check gives a share from 0 to 1. */
export function isShare({ kind }: AnswerCheck): boolean {
  return SHARES.includes(kind);
}

/** The check as one of another kind: it keeps the fields that go with both, but no length as a share. */
export function withKind(check: AnswerCheck, kind: Kind): AnswerCheck {
  const { fields } = KINDS[kind];
  const isOtherMeasure = isShare(check) !== isShare({ ...check, kind });
  const kept = fields.filter((field) => check[field] !== undefined && !(field === "least" && isOtherMeasure));
  return {
    kind,
    ...(check.name ? { name: check.name } : {}),
    ...(check.required ? { required: true } : {}),
    ...Object.fromEntries(kept.map((field) => [field, check[field]])),
  };
}

/** What the service would refuse of the checks for sure, by the path of the field. */
export function checkFaults(checks: readonly AnswerCheck[]): [string, string][] {
  return checks.flatMap((check, place): [string, string][] => {
    const path = `checks[${place}]`;
    switch (check.kind) {
      case "forbidden":
        return check.texts?.length ? [] : [[`${path}.texts`, "Write the words that no answer may have."]];
      case "regex":
        return check.pattern || check.column ? [] : [[`${path}.pattern`, "Write the pattern of the check."]];
      case "json_schema":
        return check.schema ? [] : [[`${path}.schema`, "Write the JSON schema of the check."]];
      case "length":
        return isNumber(check.least) || isNumber(check.most)
          ? []
          : [[`${path}.least`, "Say how many words an answer has at least, or at most."]];
      default:
        return check.required && isShare(check) && !isNumber(check.least)
          ? [[`${path}.least`, "Say which overlap an answer needs, so that it does not lose."]]
          : [];
    }
  });
}

function isNumber(value: number | null | undefined): boolean {
  return value !== null && value !== undefined;
}
