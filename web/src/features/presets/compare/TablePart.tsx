import { useQuery } from "@tanstack/react-query";
import type { DataSetColumn, DataSetSummary } from "../../../api/types";
import { useApi, useFormats } from "../../../app/context";
import { ErrorNote } from "../../../components/Feedback";
import { TableRoles } from "./TableRoles";
import { sampleQuery, useColumns } from "./useTable";

interface Props {
  table: DataSetSummary;
  onColumns: (columns: readonly DataSetColumn[]) => void;
}

/** A table that is kept, and what its columns are taken for; another role is saved at once. */
export function TablePart({ table, onColumns }: Props) {
  const formats = useFormats();
  const rows = useQuery(sampleQuery(useApi(), table.id, table.version)).data ?? [];
  const save = useColumns(table.id);
  return (
    <div className="stack tight">
      <p role="status">
        <strong>
          <bdi>{table.name}</bdi>
        </strong>
        : a table with {formats.counted(table.row_count, "row")}. Each row is one question.
      </p>
      <TableRoles
        columns={table.columns}
        rows={rows}
        rowCount={table.row_count}
        isDisabled={save.isPending}
        onChange={(columns) => save.mutate(columns, { onSuccess: () => onColumns(columns) })}
      />
      {save.isError && <ErrorNote error={save.error} />}
    </div>
  );
}
