import { ArrowDown, ArrowUp, ArrowUpDown } from "lucide-react";
import { useState } from "react";
import { holds, sorted, type TableView } from "../../lib/tableView";
import { Scroll } from "../Scroll";
import { Term } from "../Term";
import { classOf, type Column } from "./column";
import { TableRows } from "./TableRows";
import { Filter, SortSelect, TableTools } from "./TableTools";

interface Props<R> {
  label: string;
  /** What the order is called in which the rows come. */
  unsorted: string;
  rows: readonly R[];
  keyOf: (row: R) => string;
  /** The first one names the row, and is always shown. */
  columns: readonly [Column<R>, ...Column<R>[]];
  /** Where the view is kept; left out, the table keeps it as long as it is there. */
  view?: TableView;
  onView?: (view: TableView) => void;
  /** The words of a row, for a filter where there are many; left out where the page has one of its own. */
  wordsOf?: (row: R) => string;
  /** The last row came into sight. */
  onEnd?: () => void;
  className?: string;
  /** Nobody chooses its columns. */
  isFixed?: boolean;
}

/** So many rows are found at a glance. */
const FEW = 8;
/** So many rows are drawn at once; of more, only those in sight are, and the table has a frame of its own. */
const AT_ONCE = 50;

/**
 * A table that sorts by its heads, shows the columns that somebody chooses and finds rows by words. On a phone, each row
 * is a card with a name for every figure.
 */
export function DataTable<R>({
  label,
  unsorted,
  rows,
  keyOf,
  columns,
  wordsOf,
  onEnd,
  className,
  isFixed,
  ...props
}: Props<R>) {
  const [own, setOwn] = useState<TableView>({ isDescending: false });
  const { view = own, onView = setOwn } = props;
  const [words, setWords] = useState("");
  const [frame, setFrame] = useState<HTMLDivElement | null>(null);
  const [name, ...others] = columns;
  const choosable = others.filter(({ value }) => value);
  const chosen = view.columns ?? choosable.filter((one) => !one.isExtra).map(({ id }) => id);
  const shown = others.filter(({ id, value }) => !value || chosen.includes(id));
  const by = columns.find(({ id, value }) => id === view.by && value);
  const found = wordsOf && words ? rows.filter((row) => holds(wordsOf(row), words)) : rows;
  const inOrder = by?.value ? sorted(found, by.value, view.isDescending) : found;
  const isLong = inOrder.length > AT_ONCE;
  const sortBy = (column: Column<R> | undefined) =>
    onView({
      ...view,
      by: column?.id,
      isDescending: column ? (column === by ? !view.isDescending : (column.isBestHigh ?? false)) : false,
    });
  return (
    <div className="stack tight">
      {wordsOf && rows.length > FEW && <Filter label={label} words={words} onWords={setWords} />}
      <SortSelect unsorted={unsorted} by={by} columns={[name, ...shown]} onSort={sortBy} />
      <Scroll label={label} isTall={isLong} ref={setFrame}>
        <table className={`table data ${className ?? ""}`} aria-rowcount={isLong ? inOrder.length + 1 : undefined}>
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
          <TableRows
            frame={frame}
            isLong={isLong}
            rows={inOrder}
            keyOf={keyOf}
            name={name}
            shown={shown}
            {...(onEnd ? { onEnd } : {})}
          />
          {columns.some(({ total }) => total !== undefined) && (
            <tfoot>
              <tr>
                <th scope="row">{name.total}</th>
                {shown.map((column) => (
                  <td key={column.id} className={classOf(column)} data-label={column.label}>
                    {column.total}
                  </td>
                ))}
              </tr>
            </tfoot>
          )}
        </table>
      </Scroll>
      {found.length === 0 && words && <p className="small dim">No row has these words.</p>}
      {!isFixed && (
        <TableTools
          columns={choosable}
          chosen={chosen}
          onChoose={(id) =>
            onView({
              ...view,
              columns: choosable.map((one) => one.id).filter((one) => (one === id) !== chosen.includes(one)),
            })
          }
        />
      )}
    </div>
  );
}

interface HeadProps<R> {
  column: Column<R>;
  direction: "ascending" | "descending" | undefined;
  onSort: () => void;
}

function Head<R>({ column, direction, onSort }: HeadProps<R>) {
  const { label, value, term, head } = column;
  const Arrow = direction === "descending" ? ArrowDown : direction === "ascending" ? ArrowUp : ArrowUpDown;
  if (!value)
    return (
      <th scope="col" className={classOf(column)}>
        <span className="visually-hidden">{label}</span> {head}
      </th>
    );
  return (
    <th scope="col" className={classOf(column)} aria-sort={direction ?? "none"}>
      {term ? (
        <>
          <Term of={term}>{label}</Term>{" "}
          <button type="button" className="sort-head" aria-label={`Sort by ${label}`} onClick={onSort}>
            <Arrow size={14} aria-hidden />
          </button>
        </>
      ) : (
        <button type="button" className="sort-head" onClick={onSort}>
          {label} {direction && <Arrow size={14} aria-hidden />}
        </button>
      )}
    </th>
  );
}
