import type { AnswerCheck, PresetIn } from "../../api/types";
import { SelectField } from "../../components/Field";
import { isUnjudged } from "./draft";

interface Props {
  draft: PresetIn;
  onChange: (headline: PresetIn["headline"]) => void;
  at: (path: string) => string[];
}

/** Who decides, where there is a choice: judges, checks, or the mean F1 of classes. */
export function HeadlineField({ draft, onChange, at }: Props) {
  const checks = draft.checks ?? [];
  const isJudged = !isUnjudged(draft);
  const hasClasses = checks.some(isOfClasses);
  if (!draft.headline && (!checks.length || (!isJudged && !hasClasses))) return null;
  return (
    <div data-part="headline">
      <SelectField
        label="The decision is by"
        value={draft.headline ?? ""}
        faults={at("headline")}
        onChange={(event) => onChange((event.target.value || null) as PresetIn["headline"])}
      >
        <option value="">{isJudged ? "the judges, as usual" : "the checks, as usual"}</option>
        {isJudged && <option value="checks">the checks: judges only say more</option>}
        {!isJudged && draft.headline === "checks" && <option value="checks">the checks</option>}
        {draft.headline === "judges" && <option value="judges">the judges</option>}
        {(hasClasses || draft.headline === "macro_f1") && (
          <option value="macro_f1">labels: the mean F1 over the expected classes</option>
        )}
      </SelectField>
    </div>
  );
}

/** As the service has it: a check that compares with what is expected of each document. */
function isOfClasses({ kind, expected, tolerance }: AnswerCheck): boolean {
  return kind === "equals" && (expected ?? null) === null && (tolerance ?? null) === null;
}
