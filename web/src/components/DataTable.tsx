import { ArrowDown, ArrowUp } from "lucide-react";
import type { ReactNode } from "react";
import { sorted, type TableView, type Value } from "../lib/tableView";
import { Disclosure } from "./Disclosure";
import { Check, SelectField } from "./Field";
import { Scroll } from "./Scroll";

export interface Column<R> {
  id: string;
  label: string;
  valueOf: (row: R) => Value;
  cell: (row: R) => ReactNode;
  /** Whether the largest value comes first when somebody sorts by it. */
  isBestHigh?: boolean;
  isText?: boolean;
  /** Whether it is shown only when somebody chooses it. */
  isExtra?: boolean;
}

interface Props<R> {
  label: string;
  /** What the order is called in which the rows come. */
  unsorted: string;
  rows: readonly R[];
  keyOf: (row: R) => string;
  /** The first one names the row, and is always shown. */
  columns: readonly [Column<R>, ...Column<R>[]];
  view: TableView;
  onView: (view: TableView) => void;
}

/**
 * A table that sorts by its heads and shows the columns that somebody chooses. On a phone, each row is a card with a
 * name for every figure.
 */
export function DataTable<R>({ label, unsorted, rows, keyOf, columns, view, onView }: Props<R>) {
  const [name, ...others] = columns;
  const chosen = view.columns ?? others.filter((one) => !one.isExtra).map(({ id }) => id);
  const shown = others.filter(({ id }) => chosen.includes(id));
  const by = columns.find(({ id }) => id === view.by);
  const inOrder = by ? sorted(rows, by.valueOf, view.isDescending) : rows;
  const sortBy = (column: Column<R> | undefined) =>
    onView({
      ...view,
      by: column?.id,
      isDescending: column ? (column === by ? !view.isDescending : (column.isBestHigh ?? false)) : false,
    });
  const toggle = (id: string) =>
    onView({
      ...view,
      columns: others.map((one) => one.id).filter((one) => (one === id) !== chosen.includes(one)),
    });
  return (
    <div className="stack tight">
      <div className="only-phone">
        <SelectField
          label="Sort by"
          value={by?.id ?? ""}
          onChange={(event) => sortBy(columns.find(({ id }) => id === event.target.value))}
        >
          <option value="">{unsorted}</option>
          {[name, ...shown].map((column) => (
            <option key={column.id} value={column.id}>
              {column.label}
            </option>
          ))}
        </SelectField>
      </div>
      <Scroll label={label}>
        <table className="table data">
          <thead>
            <tr>
              {[name, ...shown].map((column) => (
                <Head
                  key={column.id}
                  column={column}
                  direction={column === by ? (view.isDescending ? "descending" : "ascending") : undefined}
                  onSort={() => sortBy(column)}
                />
              ))}
            </tr>
          </thead>
          <tbody>
            {inOrder.map((row) => (
              <tr key={keyOf(row)}>
                <th scope="row">{name.cell(row)}</th>
                {shown.map((column) => (
                  <td key={column.id} className={column.isText ? "" : "n"} data-label={column.label}>
                    {column.cell(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <Disclosure title="Columns" summary={shown.map((column) => column.label).join(", ")}>
        <div className="row" role="group" aria-label="Columns that are shown">
          {others.map((column) => (
            <Check
              key={column.id}
              label={column.label}
              checked={chosen.includes(column.id)}
              onChange={() => toggle(column.id)}
            />
          ))}
        </div>
      </Disclosure>
    </div>
  );
}

interface HeadProps<R> {
  column: Column<R>;
  direction: "ascending" | "descending" | undefined;
  onSort: () => void;
}

function Head<R>({ column, direction, onSort }: HeadProps<R>) {
  const Arrow = direction === "descending" ? ArrowDown : ArrowUp;
  return (
    <th scope="col" className={column.isText ? "" : "n"} aria-sort={direction ?? "none"}>
      <button type="button" className="sort-head" onClick={onSort}>
        {column.label} {direction && <Arrow size={14} aria-hidden />}
      </button>
    </th>
  );
}
