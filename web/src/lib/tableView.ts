/** How somebody looks at a table: sorted by what, and with which columns. */

export type Value = number | string | null;

export interface TableView {
  /** The column by which the rows are sorted; undefined: as they came. */
  by?: string | undefined;
  isDescending: boolean;
  /** The columns that are shown; undefined: those that are shown at first. */
  columns?: readonly string[] | undefined;
}

/** The rows by their values. What has none comes last in either direction, and equal ones stay as they came. */
export function sorted<R>(rows: readonly R[], valueOf: (row: R) => Value, isDescending: boolean): R[] {
  const compare = (one: Value, other: Value) => {
    if (one === null || other === null) return Number(one === null) - Number(other === null);
    const order =
      typeof one === "number" && typeof other === "number" ? one - other : `${one}`.localeCompare(`${other}`);
    return isDescending ? -order : order;
  };
  return rows.toSorted((one, other) => compare(valueOf(one), valueOf(other)));
}

/** As an address says it: `cost` upward, `-cost` downward; columns with commas between them. */
export function viewOf({ sort, columns }: { sort?: string | undefined; columns?: string | undefined }): TableView {
  return {
    by: sort?.replace(/^-/, ""),
    isDescending: sort?.startsWith("-") ?? false,
    columns: columns?.split(",").filter(Boolean),
  };
}

export function addressOf({ by, isDescending, columns }: TableView): { sort?: string; columns?: string } {
  return {
    ...(by ? { sort: `${isDescending ? "-" : ""}${by}` } : {}),
    // Without any, a comma says that none is wanted.
    ...(columns ? { columns: columns.join(",") || "," } : {}),
  };
}

/** Whether a text has all the words, in any order. */
export function holds(text: string, words: string): boolean {
  const within = text.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => within.includes(word));
}
