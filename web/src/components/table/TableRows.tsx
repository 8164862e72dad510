import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect } from "react";
import { classOf, type Column } from "./column";

const ROW_PX = 64;

interface Props<R> {
  /** What scrolls, once it is there. */
  frame: HTMLDivElement | null;
  isLong: boolean;
  rows: readonly R[];
  keyOf: (row: R) => string;
  name: Column<R>;
  shown: readonly Column<R>[];
  onEnd?: () => void;
}

/** The body of a table. Of a long one only the rows in sight are drawn, between two rows that are as high as the rest. */
export function TableRows<R>({ frame, isLong, rows, keyOf, name, shown, onEnd }: Props<R>) {
  const virtual = useVirtualizer({
    count: rows.length,
    enabled: isLong,
    getScrollElement: () => frame,
    estimateSize: () => ROW_PX,
    overscan: 8,
    getItemKey: (index) => {
      const row = rows[index];
      return row === undefined ? index : keyOf(row);
    },
  });
  const items = isLong ? virtual.getVirtualItems() : [];
  const places = isLong ? items.map(({ index }) => index) : rows.map((_, index) => index);
  const [above, below] = [items[0]?.start ?? 0, isLong ? virtual.getTotalSize() - (items.at(-1)?.end ?? 0) : 0];
  const last = places.at(-1) ?? 0;
  useEffect(() => {
    if (rows.length && last >= rows.length - 1) onEnd?.();
    // Only when the end comes into sight; the function itself is new each time.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [last, rows.length]);
  return (
    <tbody>
      {above > 0 && <Rest px={above} />}
      {places.map((index) => {
        const row = rows[index];
        return (
          row !== undefined && (
            <tr
              key={keyOf(row)}
              {...(isLong ? { ref: virtual.measureElement, "data-index": index, "aria-rowindex": index + 2 } : {})}
            >
              <th scope="row">{name.cell(row)}</th>
              {shown.map((column) => (
                <td key={column.id} className={classOf(column)} data-label={column.value ? column.label : undefined}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          )
        );
      })}
      {below > 0 && <Rest px={below} />}
    </tbody>
  );
}

function Rest({ px }: { px: number }) {
  return <tr className="rest" aria-hidden style={{ height: px }} />;
}
