/** Where the form of a data set shows what the service refuses, and what people call that place. */
import { ApiError } from "carrel-sdk";
import type { DataSetColumn } from "../../../api/types";
import { pathInWords } from "../../../lib/pathWords";

type Columns = readonly DataSetColumn[];

interface Place {
  /** The index of the column. */
  column: number;
  /** The row whose cell does not fit the role of the column. */
  row?: string;
}

/** The part of the form. A cell that does not fit its column stands at the role of that column. */
export function partAt(path: string, columns: Columns): string {
  const place = placeOf(path, columns);
  return place ? `columns[${place.column}]` : path;
}

export function nameAt(path: string, columns: Columns): string {
  const place = placeOf(path, columns);
  if (!place) return pathInWords(path);
  const name = columns[place.column]?.name ?? "";
  return place.row ? `Column ${name}, row ${place.row}` : `Role of ${name}`;
}

/** What is refused about one column, a sentence for each fault. */
export function columnFaults(error: unknown, columns: Columns, column: number): string[] {
  if (!(error instanceof ApiError)) return [];
  return error.faults.flatMap(({ path, message }) => {
    const place = placeOf(path, columns);
    if (place?.column !== column) return [];
    return [place.row ? `Row ${place.row} ${message}` : `This ${message}`];
  });
}

function placeOf(path: string, columns: Columns): Place | undefined {
  const own = /^columns\[(\d+)\]/.exec(path)?.[1];
  if (own !== undefined) return { column: Number(own) };
  const [, row, cell] = /^rows\[(\d+)\]\.(.+)$/.exec(path) ?? [];
  if (row === undefined || cell === undefined) return undefined;
  // The service counts columns from 1 where a name cannot stand in a path.
  const numbered = /^columns\[(\d+)\]$/.exec(cell)?.[1];
  const column = numbered === undefined ? columns.findIndex(({ name }) => name === cell) : Number(numbered) - 1;
  return columns[column] && { column, row };
}
