import { useState } from "react";
import type { Candidate } from "../../api/types";
import { JsonArea } from "./JsonArea";

type Schema = Candidate["response_schema"];

interface Props {
  value: Schema;
  faults: readonly string[];
  onChange: (schema: Schema) => void;
}

/** The JSON schema that a candidate's answers follow. */
export function SchemaField({ value, faults, onChange }: Props) {
  const [startsOpen] = useState(Boolean(value));
  return (
    <details open={startsOpen || faults.length > 0}>
      <summary>Answers in JSON</summary>
      <div className="inset">
        <JsonArea
          label="JSON schema of the answers"
          hint="For models of providers; empty means free text. An answer that does not follow it loses by rule."
          value={value}
          faults={faults}
          onChange={onChange}
        />
      </div>
    </details>
  );
}
