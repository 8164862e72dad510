import { useId } from "react";
import type { DataSetColumn } from "../../../api/types";
import { useFormats } from "../../../app/context";
import { Disclosure } from "../../../components/Disclosure";
import { Check, SelectField } from "../../../components/Field";
import { answersIn } from "./setup";
import { asks, type TableRow, withOutput, withRole } from "./table";

const SHOWN = 2;
const SINGLE = [
  ["id", "Name rows by", "their numbers"],
  ["expected", "Expected answer", "none"],
  ["group", "Count together by", "none: each row by itself"],
] as const;

interface Props {
  columns: readonly DataSetColumn[];
  /** The first rows. */
  rows: readonly TableRow[];
  rowCount: number;
  isDisabled?: boolean;
  onChange: (columns: DataSetColumn[]) => void;
}

/** What each column of a table is taken for, and two rows as they are read. */
export function TableRoles({ columns, rows, rowCount, isDisabled = false, onChange }: Props) {
  const formats = useFormats();
  const label = useId();
  const question = columns.find(asks);
  const named = (role: DataSetColumn["role"]) => columns.find((column) => column.role === role)?.name ?? "";
  const answers = answersIn(columns);
  const options = columns.map(({ name }) => (
    <option key={name} value={name}>
      {name}
    </option>
  ));
  const more = rowCount - Math.min(SHOWN, rows.length);
  return (
    <div className="stack tight">
      <div className="columns narrow-columns">
        <SelectField
          label="The question is in"
          value={question?.name ?? ""}
          faults={question ? [] : ["Which column has what is asked?"]}
          disabled={isDisabled}
          onChange={(event) => onChange(withRole(columns, question?.role ?? "variable", event.target.value))}
        >
          {!question && <option value="">Choose a column</option>}
          {options}
        </SelectField>
        {SINGLE.map(([role, words, none]) => (
          <SelectField
            key={role}
            label={words}
            value={named(role)}
            disabled={isDisabled}
            onChange={(event) => onChange(withRole(columns, role, event.target.value || undefined))}
          >
            <option value="">{none}</option>
            {options}
          </SelectField>
        ))}
      </div>
      <Disclosure title="Finished answers" summary={answers.join(", ") || "none"}>
        <div className="stack tight" role="group" aria-labelledby={label}>
          <p className="small dim" id={label}>
            Columns with answers that exist already. Each competes like a model.
          </p>
          {columns
            .filter(({ role }) => role === "metadata" || role === "output")
            .map(({ name, role }) => (
              <Check
                key={name}
                label={<bdi>{name}</bdi>}
                checked={role === "output"}
                disabled={isDisabled}
                onChange={(event) => onChange(withOutput(columns, name, event.target.checked))}
              />
            ))}
        </div>
      </Disclosure>
      {rows.length > 0 && (
        <ul className="sample-rows small">
          {rows.slice(0, SHOWN).map((row) => (
            <li key={row.number} className="clamp one" dir="auto">
              <strong>{row.values[named("id")] ?? `Row ${formats.integer(row.number)}`}</strong>{" "}
              {question && row.values[question.name]}
            </li>
          ))}
          {more > 0 && <li className="dim">{formats.integer(more)} more</li>}
        </ul>
      )}
    </div>
  );
}
