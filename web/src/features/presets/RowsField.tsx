import { Plus, Trash2 } from "lucide-react";
import { Link } from "@tanstack/react-router";
import type { DataSetSummary, Rows } from "../../api/types";
import { useFormats } from "../../app/context";
import { Button, IconButton } from "../../components/Button";
import { SelectField, TextField } from "../../components/Field";

const MOST_FILTERS = 10;

interface Props {
  rows: Rows | null;
  dataSets: readonly DataSetSummary[];
  /** What stands in the list for no data set. */
  none: string;
  onChange: (rows: Rows | null) => void;
  at: (path: string) => string[];
}

/** Rows of a data set as inputs: all of them, or those with certain values in some columns. */
export function RowsField({ rows, dataSets, none, onChange, at }: Props) {
  const formats = useFormats();
  const chosen = dataSets.find(({ id }) => id === rows?.data_set);
  const where = Object.entries(rows?.where ?? {});
  const columns = chosen?.columns.filter(({ name }) => !where.some(([taken]) => taken === name)) ?? [];
  const free = columns.map(({ name }) => name);
  // Few rows have the same question; many have the same group or mark.
  const next = columns.find(({ role }) => role === "metadata" || role === "group")?.name ?? free[0];
  const filter = (pairs: readonly (readonly [string, string])[]) =>
    rows && onChange({ ...rows, where: Object.fromEntries(pairs) });
  const set = (place: number, column: string, value: string) =>
    filter(where.map((pair, index) => (index === place ? [column, value] : pair)));
  return (
    <div className="stack tight" data-part="rows">
      <SelectField
        label="Data set"
        value={rows?.data_set ?? ""}
        faults={[
          ...at("rows"),
          ...(rows && dataSets.length && !chosen ? ["This data set is not there any more."] : []),
        ]}
        hint={
          chosen &&
          (rows?.version
            ? `Version ${rows.version}, whatever comes later.`
            : `${formats.counted(chosen.row_count, "row")} of its newest version, ${chosen.version}.`)
        }
        onChange={(event) => onChange(event.target.value ? { data_set: event.target.value } : null)}
      >
        <option value="">{none}</option>
        {rows && !chosen && <option value={rows.data_set}>A data set</option>}
        {dataSets.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
      {where.map(([column, value], place) => (
        <div key={place} className="judge-line even">
          <SelectField
            label={`Filter ${place + 1}: column`}
            value={column}
            onChange={(event) => set(place, event.target.value, value)}
          >
            {[column, ...free].map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </SelectField>
          <TextField
            label="is exactly"
            placeholder="an empty cell"
            value={value}
            onChange={(event) => set(place, column, event.target.value)}
          />
          <IconButton
            label={`Remove filter ${place + 1}`}
            icon={<Trash2 size={16} aria-hidden />}
            onPress={() => filter(where.filter((_, index) => index !== place))}
          />
        </div>
      ))}
      {chosen && (
        <div className="row">
          {next !== undefined && where.length < MOST_FILTERS && (
            <Button small onPress={() => filter([...where, [next, ""]])}>
              <Plus size={14} aria-hidden /> Only rows with
            </Button>
          )}
          <Link to="/library/data-sets/$dataSetId" params={{ dataSetId: chosen.id }} className="small">
            See its rows and columns
          </Link>
        </div>
      )}
    </div>
  );
}
