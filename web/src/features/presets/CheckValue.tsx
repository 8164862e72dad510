import { useState } from "react";
import type { AnswerCheck } from "../../api/types";
import { Check, TextArea, TextField } from "../../components/Field";
import { same } from "../../lib/useDraft";
import { isShare, KINDS } from "./checks";
import { JsonArea } from "./JsonArea";

interface Props {
  check: AnswerCheck;
  at: (field: string) => string[];
  onChange: (check: AnswerCheck) => void;
}

/** What a check looks for: the fields that its kind has. */
export function CheckValue({ check, at, onChange }: Props) {
  const { fields } = KINDS[check.kind];
  const has = (field: (typeof fields)[number]) => fields.includes(field);
  const change = (part: Partial<AnswerCheck>) => onChange({ ...check, ...part });
  const isOfTexts = has("texts");
  const inColumn = check.column ?? Object.values(check.columns ?? {}).join(", ");
  if (inColumn)
    return (
      <>
        <p className="small dim">The rows of the data set have the values, in: {inColumn}.</p>
        <Numbers check={check} at={at} onChange={onChange} />
      </>
    );
  return (
    <>
      {isOfTexts && (
        <TextsField
          texts={check.texts ?? []}
          hint={
            check.kind === "forbidden"
              ? "One on each line, found in any case."
              : "One on each line; empty: the expected answer of the document."
          }
          faults={at("texts")}
          onChange={(texts) => change({ texts })}
        />
      )}
      {has("pattern") && (
        <TextField
          label="Pattern"
          hint="In the syntax of RE2; ^ and $ are the ends of the answer."
          maxLength={1000}
          spellCheck={false}
          value={check.pattern ?? ""}
          faults={at("pattern")}
          onChange={(event) => change({ pattern: event.target.value || null })}
        />
      )}
      {has("expected") && (!isOfTexts || check.expected) && (
        <TextArea
          label="Expected answer"
          hint="Empty: the reference of the document, or the expected column of its row."
          rows={2}
          value={check.expected ?? ""}
          faults={at("expected")}
          onChange={(event) => change({ expected: event.target.value || null })}
        />
      )}
      {has("schema") && (
        <JsonArea
          label="JSON schema"
          hint="It may refer to its own parts only."
          value={check.schema}
          faults={at("schema")}
          onChange={(schema) => change({ schema: schema ?? null })}
        />
      )}
      <Numbers check={check} at={at} onChange={onChange} />
      {has("ignore_case") && (
        <Check
          label="Upper and lower case are the same"
          checked={check.ignore_case ?? false}
          onChange={(event) => change({ ignore_case: event.target.checked })}
        />
      )}
      {has("ignore_space") && (
        <Check
          label="Any white space equals one space"
          checked={check.ignore_space ?? false}
          onChange={(event) => change({ ignore_space: event.target.checked })}
        />
      )}
    </>
  );
}

function Numbers({ check, at, onChange }: Props) {
  const { fields } = KINDS[check.kind];
  const share = isShare(check);
  const labels = {
    least: share ? "At least, from 0 to 1" : "Words at least",
    most: "Words at most",
    tolerance: "Numbers may differ by",
  };
  const names = (["least", "most", "tolerance"] as const).filter((name) => fields.includes(name));
  if (!names.length) return null;
  return (
    <div className="columns narrow-columns">
      {names.map((name) => (
        <TextField
          key={name}
          label={labels[name]}
          type="number"
          min={0}
          {...(share ? { max: 1, step: 0.05, hint: "Empty: the share itself is the mark." } : {})}
          {...(name === "tolerance" ? { step: "any" } : {})}
          value={check[name] ?? ""}
          faults={at(name)}
          onChange={({ target }) =>
            onChange({ ...check, [name]: Number.isNaN(target.valueAsNumber) ? null : target.valueAsNumber })
          }
        />
      ))}
    </div>
  );
}

interface TextsProps {
  texts: readonly string[];
  hint: string;
  faults: readonly string[];
  onChange: (texts: string[]) => void;
}

/** Texts, one a line, with empty lines while they are typed. A text of several lines comes from a program and stays. */
function TextsField({ texts, hint, faults, onChange }: TextsProps) {
  const [typed, setTyped] = useState(() => texts.join("\n"));
  const isByLines = !texts.some((text) => text.includes("\n"));
  return (
    <TextArea
      label="Texts"
      hint={isByLines ? hint : "Some of these texts have several lines; only a program can change them."}
      rows={3}
      readOnly={!isByLines}
      value={isByLines && same(linesOf(typed), texts) ? typed : texts.join("\n")}
      faults={faults}
      onChange={(event) => {
        setTyped(event.target.value);
        onChange(linesOf(event.target.value));
      }}
    />
  );
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line.trim());
}
