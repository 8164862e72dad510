import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, useRef } from "react";
import type { Figures } from "../../../api/types";
import { useFormats } from "../../../app/context";
import { ErrorNote } from "../../../components/Feedback";
import { Breakable } from "../../../components/Breakable";
import { Mark } from "../../../components/Mark";
import { NumberHead } from "../../../components/NumberHead";
import { Term } from "../../../components/Term";
import { useNames } from "../useNames";
import { around, upwards } from "./heat";
import type { Column, Measure } from "./heatRows";

const ROW_PX = 56;

interface Props {
  runId: string;
  figures: Figures;
  columns: readonly Column[];
  /** The number of a candidate, which its mark shows. */
  numberOf: (candidate: string) => number;
  measure: Measure;
  low: number;
  high: number;
  onOpen: (document: string) => void;
}

/** Documents down, candidates across. Only rows in sight are drawn, so that ten thousand cost as little as ten. */
export function HeatMap({ runId, figures, columns, numberOf, measure, low, high, onOpen }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: figures.documents,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_PX,
    overscan: 6,
  });
  const items = virtual.getVirtualItems();
  const [first, last] = [items[0], items.at(-1)];
  const { names, error } = useNames(runId, figures.documents, (first?.index ?? 0) + 1, (last?.index ?? 0) + 1);
  const below = last ? virtual.getTotalSize() - last.end : 0;
  const hasFlips = figures.flips.length > 0;
  if (error) return <ErrorNote error={error} />;
  return (
    // A frame that scrolls must be reachable by keyboard.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div ref={frame} className="scroll card flush tall" tabIndex={0} role="group" aria-labelledby="heat-title">
      <table className="table heat documents" aria-rowcount={figures.documents + 1}>
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col">Document</th>
            {columns.map(({ candidate }) => (
              <NumberHead key={candidate}>
                <span className="marked">
                  <Mark number={numberOf(candidate)} /> <Breakable name={candidate} />
                </span>
              </NumberHead>
            ))}
            {hasFlips && (
              <NumberHead>
                <Term of="flip">Flips</Term>
              </NumberHead>
            )}
          </tr>
        </thead>
        <tbody>
          <Gap height={first?.start ?? 0} />
          {items.map(({ index }) => (
            <HeatRow
              key={index}
              number={index + 1}
              name={names.get(index + 1)}
              columns={columns}
              measure={measure}
              low={low}
              high={high}
              flips={hasFlips ? (figures.flips[index] ?? 0) : undefined}
              onOpen={onOpen}
            />
          ))}
          <Gap height={below} />
        </tbody>
      </table>
    </div>
  );
}

/** The place of the rows that are not drawn. */
function Gap({ height }: { height: number }) {
  return height > 0 && <tr aria-hidden style={{ height }} />;
}

interface RowProps extends Omit<Props, "runId" | "figures" | "numberOf"> {
  number: number;
  name: string | undefined;
  flips: number | undefined;
}

/** Memoised, so that scrolling renders only the new ones. */
const HeatRow = memo(function HeatRow({ number, name, columns, measure, low, high, flips, onOpen }: RowProps) {
  const formats = useFormats();
  return (
    <tr aria-rowindex={number + 1} style={{ height: ROW_PX }}>
      <th scope="row">
        <button type="button" className="link" title={name} onClick={() => onOpen(`d${number}`)}>
          <Breakable name={name ?? "…"} />
        </button>
      </th>
      {columns.map(({ candidate, values }) => {
        const value = values[number - 1] ?? null;
        if (value === null)
          return (
            <td key={candidate} className="n dim">
              –
            </td>
          );
        const colour =
          measure === "win_share"
            ? around(value)
            : upwards(measure === "checks" ? value : (value - low) / (high - low || 1));
        return (
          <td key={candidate} className="n" style={colour}>
            {measure === "score" ? formats.decimal(value) : formats.percent(value)}
          </td>
        );
      })}
      {flips !== undefined && <td className={`n ${flips ? "warn" : "dim"}`}>{flips}</td>}
    </tr>
  );
});
