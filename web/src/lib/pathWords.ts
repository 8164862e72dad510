/** Paths of the API in the words of the page: nobody but a programmer knows what `generation.candidates[2].model` is. */

const NAMES: Readonly<Record<string, string>> = {
  inputs: "document",
  candidates: "candidate",
  judges: "judge",
  references: "reference",
  criteria: "criteria",
  body: "criterion",
  paths: "file",
  contents: "text",
  columns: "column",
};
/** Parts that say nothing to a reader: what stands in them is named by what follows. */
const SILENT = new Set(["configuration", "generation", "combination", "rows"]);

/** A row of a table, and the column by its name or its number; both are counted from one already. */
const OF_A_TABLE = /^rows\[(\d+)\](?:\.(?:columns\[(\d+)\]|(.+)))?$/;

/** A column of a table in a file, counted from one as well; `columns[2].role` is a field of a request, and is not. */
const OF_A_HEADER = /^columns\[(\d+)\]$/;

/** `generation.candidates[2].model` as "Candidate 3, model": people count from one. */
export function pathInWords(path: string): string {
  const [isOfTable, row, place, column = place] = OF_A_TABLE.exec(path) ?? [];
  if (isOfTable) return `Row ${row ?? ""}${column === undefined ? "" : `, column ${column}`}`;
  const [, header] = OF_A_HEADER.exec(path) ?? [];
  if (header) return `Column ${header}`;
  const parts = path
    .split(".")
    .filter((part, at, all) => !(SILENT.has(part) && at < all.length - 1))
    .map((part) => {
      const [, name = part, index] = /^([^[]*)\[(\d+)\]/.exec(part) ?? [];
      const words = name.replaceAll("_", " ");
      return index === undefined ? words : `${NAMES[name] ?? words} ${Number(index) + 1}`;
    });
  const words = parts.join(", ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
