import { useState } from "react";
import type { Candidate } from "../../api/types";
import { TextArea } from "../../components/Field";
import { same } from "../../lib/useDraft";

type Schema = Candidate["response_schema"];

interface Props {
  label: string;
  hint: string;
  value: Schema;
  faults: readonly string[];
  rows?: number;
  what?: string;
  onChange: (value: Schema) => void;
}

/**
 * An object in JSON, kept as it is typed. What is no JSON goes out as it is, so that nobody saves less. Another value from
 * outside takes the place of the text.
 */
export function JsonArea({
  label,
  hint,
  value,
  faults,
  rows = 8,
  what = "a JSON schema, which is an object in JSON",
  onChange,
}: Props) {
  const [typed, setTyped] = useState(() => shown(value));
  const text = same(read(typed).value ?? null, value ?? null) ? typed : shown(value);
  return (
    <TextArea
      label={label}
      hint={hint}
      value={text}
      rows={rows}
      editor
      spellCheck={false}
      faults={read(text).isFaulty ? [`must be ${what}`] : [...faults]}
      onChange={(event) => {
        setTyped(event.target.value);
        onChange(read(event.target.value).value);
      }}
    />
  );
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

function read(text: string): { value: Schema; isFaulty: boolean } {
  if (!text.trim()) return { value: null, isFaulty: false };
  try {
    const found: unknown = JSON.parse(text);
    const isObject = typeof found === "object" && found !== null && !Array.isArray(found);
    return { value: found as Schema, isFaulty: !isObject };
  } catch {
    return { value: text as unknown as Schema, isFaulty: true };
  }
}
