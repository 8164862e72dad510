import { useVirtualizer } from "@tanstack/react-virtual";
import { type Key, type ReactNode, useEffect, useRef } from "react";

interface Props<T> {
  items: readonly T[];
  label: string;
  estimate: number;
  keyOf: (item: T) => Key;
  render: (item: T) => ReactNode;
  onEnd?: () => void;
  /** Stay at the last line while new ones come. */
  stickToEnd?: boolean;
}

/** A list that renders only its visible rows, so that ten thousand rows cost as little as ten. */
export function VirtualList<T>({ items, label, estimate, keyOf, render, onEnd, stickToEnd }: Props<T>) {
  const frame = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => frame.current,
    estimateSize: () => estimate,
    overscan: 8,
    getItemKey: (index) => {
      const item = items[index];
      return item === undefined ? index : keyOf(item);
    },
  });
  const shown = virtual.getVirtualItems();
  const lastShown = shown.at(-1)?.index ?? 0;

  useEffect(() => {
    if (items.length && lastShown >= items.length - 1) onEnd?.();
    // Only when the end comes into sight; the function itself is new each time.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [lastShown, items.length]);

  useEffect(() => {
    if (stickToEnd && items.length) virtual.scrollToIndex(items.length - 1, { align: "end" });
  }, [stickToEnd, items.length, virtual]);

  return (
    // A frame that scrolls must be reachable by keyboard.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="virtual" ref={frame} tabIndex={0} role="group" aria-label={label}>
      <div role="list" style={{ height: virtual.getTotalSize() }}>
        {shown.map(({ key, index, start }) => {
          const item = items[index];
          return (
            item !== undefined && (
              <div
                key={key}
                role="listitem"
                aria-setsize={items.length}
                aria-posinset={index + 1}
                className="line"
                data-index={index}
                ref={virtual.measureElement}
                style={{ transform: `translateY(${start}px)` }}
              >
                {render(item)}
              </div>
            )
          );
        })}
      </div>
    </div>
  );
}
