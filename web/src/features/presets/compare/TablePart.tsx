import { useQuery } from "@tanstack/react-query";
import type { DataSetSummary } from "../../../api/types";
import { useApi, useFormats } from "../../../app/context";
import { ErrorNote } from "../../../components/Feedback";
import { SelectField } from "../../../components/Field";
import { asks, withRole } from "./table";
import { sampleQuery, useColumns } from "./useTable";

const SHOWN = 2;

/** What a table is taken for: how many rows, which column asks, which names the rows, and two rows as they are read. */
export function TablePart({ table }: { table: DataSetSummary }) {
  const formats = useFormats();
  const rows = useQuery(sampleQuery(useApi(), table.id, table.version)).data ?? [];
  const save = useColumns(table.id);
  const { columns } = table;
  const question = columns.find(asks);
  const named = (role: "id" | "expected") => columns.find((column) => column.role === role)?.name ?? "";
  const options = columns.map(({ name }) => (
    <option key={name} value={name}>
      {name}
    </option>
  ));
  const more = table.row_count - Math.min(SHOWN, rows.length);
  return (
    <div className="stack tight">
      <p role="status">
        <strong>
          <bdi>{table.name}</bdi>
        </strong>
        : a table with {formats.integer(table.row_count)} {table.row_count === 1 ? "row" : "rows"}. Each row is one
        question.
      </p>
      <div className="columns narrow-columns">
        <SelectField
          label="The question is in"
          value={question?.name ?? ""}
          faults={question ? [] : ["Which column has what is asked?"]}
          disabled={save.isPending}
          onChange={(event) => save.mutate(withRole(columns, question?.role ?? "variable", event.target.value))}
        >
          {!question && <option value="">Choose a column</option>}
          {options}
        </SelectField>
        <SelectField
          label="Name rows by"
          value={named("id")}
          disabled={save.isPending}
          onChange={(event) => save.mutate(withRole(columns, "id", event.target.value || undefined))}
        >
          <option value="">their numbers</option>
          {options}
        </SelectField>
        <SelectField
          label="Expected answer"
          value={named("expected")}
          disabled={save.isPending}
          onChange={(event) => save.mutate(withRole(columns, "expected", event.target.value || undefined))}
        >
          <option value="">none</option>
          {options}
        </SelectField>
      </div>
      {save.isError && <ErrorNote error={save.error} />}
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
