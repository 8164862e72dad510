import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { DataSet, DataSetColumn } from "../../../api/types";
import { useApi, useFormats } from "../../../app/context";
import { Button } from "../../../components/Button";
import { ErrorNote, Skeleton } from "../../../components/Feedback";
import { SelectField } from "../../../components/Field";
import { NumberHead } from "../../../components/NumberHead";
import { Scroll } from "../../../components/Scroll";
import { dataSetVersionsQuery, rowsQuery } from "./queries";

/** A cell may hold a whole text; a table shows how it begins. */
const SHOWN_CHARACTERS = 200;

/** The first rows of the table, of any version. */
export function RowsPart({ dataSet }: { dataSet: DataSet }) {
  const formats = useFormats();
  const [chosen, setChosen] = useState<number>();
  const versions = useQuery(dataSetVersionsQuery(useApi(), dataSet.id)).data?.items ?? [];
  const version = versions.find((one) => one.version === chosen) ?? dataSet;
  return (
    <section className="stack" aria-labelledby="rows-title">
      <div className="row between">
        <h2 id="rows-title">{formats.counted(version.row_count, "row")}</h2>
        {versions.length > 1 && (
          <SelectField
            label="Version"
            value={version.version}
            onChange={(event) => setChosen(Number(event.target.value))}
          >
            {versions.map((one) => (
              <option key={one.version} value={one.version}>
                {one.version} · {formats.dateTime(one.updated_at)} · {formats.counted(one.row_count, "row")}
              </option>
            ))}
          </SelectField>
        )}
      </div>
      <Rows dataSetId={dataSet.id} version={version.version} columns={version.columns} />
    </section>
  );
}

interface RowsProps {
  dataSetId: string;
  version: number;
  columns: readonly DataSetColumn[];
}

function Rows({ dataSetId, version, columns }: RowsProps) {
  const formats = useFormats();
  const query = useInfiniteQuery(rowsQuery(useApi(), dataSetId, version));
  const rows = query.data?.pages.flatMap((page) => page.items);
  if (!rows)
    return query.isError ? <ErrorNote error={query.error} onRetry={() => void query.refetch()} /> : <Skeleton />;
  return (
    <>
      <Scroll labelledBy="rows-title" isTall>
        <table className="table cells">
          <thead>
            <tr>
              <NumberHead>Row</NumberHead>
              {columns.map(({ name, role }) => (
                <th key={name} scope="col">
                  {name}
                  {role !== "metadata" && <span className="dim small block">{role}</span>}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.number}>
                <td className="n dim">{formats.integer(row.number)}</td>
                {columns.map(({ name }) => (
                  <td key={name}>{shown(row.values[name])}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {query.hasNextPage && (
        <div>
          <Button small onPress={() => void query.fetchNextPage()} isDisabled={query.isFetchingNextPage}>
            Show more rows
          </Button>
        </div>
      )}
    </>
  );
}

function shown(cell: string | null | undefined) {
  if (cell === null || cell === undefined) return <span className="dim">–</span>;
  const characters = Array.from(cell.slice(0, 2 * SHOWN_CHARACTERS));
  return characters.length > SHOWN_CHARACTERS ? `${characters.slice(0, SHOWN_CHARACTERS).join("")} …` : cell;
}
