/** What the columns of a table probably are, whatever they are called: the user sees the guess, and changes it. */
import type { components } from "carrel-sdk";
import type { DataSetColumn } from "../../../api/types";

export type TableRow = components["schemas"]["DataSetRow"];
type Role = DataSetColumn["role"];

/** A name of a row is read at a glance. */
const LONGEST_ID = 40;

/** The roles as the service suggests them; where it sees no question or id, the longest text, and a short unique column. */
export function guessedRoles(columns: readonly DataSetColumn[], rows: readonly TableRow[]): DataSetColumn[] {
  const cells = (name: string) => rows.map(({ values }) => values[name] ?? "");
  const length = (name: string) => cells(name).reduce((sum, cell) => sum + cell.length, 0) / Math.max(1, rows.length);
  const free = () => found.filter(({ role }) => role === "metadata").map(({ name }) => name);
  let found = [...columns];
  if (!found.some(asks)) {
    const longest = free().toSorted((one, other) => length(other) - length(one))[0];
    if (longest !== undefined) found = withRole(found, "variable", longest);
  }
  if (!found.some(({ role }) => role === "id") && rows.length > 1) {
    const isName = (name: string) =>
      length(name) <= LONGEST_ID &&
      cells(name).every((cell) => cell.trim()) &&
      new Set(cells(name)).size === rows.length;
    const first = free().find(isName);
    if (first !== undefined) found = withRole(found, "id", first);
  }
  return found;
}

export function asks({ role }: DataSetColumn): boolean {
  return role === "variable" || role === "messages";
}

/** The columns with one of them as finished answers, or no longer. */
export function withOutput(columns: readonly DataSetColumn[], at: string, isOutput: boolean): DataSetColumn[] {
  return columns.map((column) => (column.name === at ? { ...column, role: isOutput ? "output" : "metadata" } : column));
}

/** The columns with this role at one of them, or at none; whichever had it before is anything else. */
export function withRole(columns: readonly DataSetColumn[], role: Role, at: string | undefined): DataSetColumn[] {
  return columns.map((column) =>
    column.name === at ? { ...column, role } : column.role === role ? { ...column, role: "metadata" } : column,
  );
}
