import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown, ArrowUp, NotebookPen, Star } from "lucide-react";
import { type KeyboardEvent, memo, useEffect, useRef, useState } from "react";
import { useFormats } from "../../../app/context";
import type { Density } from "../../../app/settings";
import { Breakable } from "../../../components/Breakable";
import { Mark } from "../../../components/Mark";
import type { AnswerBeginnings } from "../../../api/types";
import { CheckMark } from "../../../components/CheckMark";
import { ErrorNote } from "../../../components/Feedback";
import type { Flag, GridCell, GridRow, Sorting } from "./gridRows";
import { useBeginnings } from "./useBeginnings";

const ROW_PX: Record<Density, number> = { comfortable: 104, compact: 44 };
const PAGE = 10;
const CELL_REM = 11;
const FLAGS: Record<Flag, string> = { flip: "flip", failed: "no answer", cut: "cut off" };

interface Props {
  runId: string;
  /** Whether answers are still to come. */
  isLive: boolean;
  /** The numbers of the documents, in the order in which they are shown. */
  documents: readonly number[];
  rowOf: (document: number, beginnings: AnswerBeginnings | undefined) => GridRow;
  candidates: readonly string[];
  /** The names of the run's checks. */
  checks: readonly string[];
  /** The number of a candidate in the run, which its mark follows. */
  numberOf: (candidate: string) => number;
  density: Density;
  sorting: Sorting;
  onSort: (candidate: string) => void;
  onOpen: (document: string, candidate: string) => void;
  onStar: (document: string, candidate: string) => void;
  onNote: (document: string, candidate: string) => void;
}

/** Documents down, candidates across. Only rows in sight are drawn; the arrow keys go from cell to cell. */
export function AnswersGrid({ runId, isLive, documents, rowOf, candidates, numberOf, density, ...props }: Props) {
  const { checks, sorting, onSort, onOpen, onStar, onNote } = props;
  const frame = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState({ row: 0, column: 0 });
  const hasFocus = useRef(false);
  const virtual = useVirtualizer({
    count: documents.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_PX[density],
    overscan: 6,
    getItemKey: (index) => documents[index] ?? index,
  });
  const items = virtual.getVirtualItems();
  const beginnings = useBeginnings(runId, documents, items[0]?.index ?? 0, items.at(-1)?.index ?? 0, isLive);
  useEffect(() => virtual.measure(), [density, virtual]);
  useEffect(() => {
    if (hasFocus.current) frame.current?.querySelector<HTMLElement>('[tabindex="0"][role="gridcell"]')?.focus();
  }, [at]);
  const move = (row: number, column: number) => {
    const to = {
      row: Math.max(0, Math.min(documents.length - 1, row)),
      column: Math.max(0, Math.min(candidates.length - 1, column)),
    };
    hasFocus.current = true;
    virtual.scrollToIndex(to.row);
    setAt(to);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const { row, column } = at;
    const here = [`d${documents[row]}`, candidates[column] ?? ""] as const;
    const steps: Record<string, () => void> = {
      ArrowDown: () => move(row + 1, column),
      ArrowUp: () => move(row - 1, column),
      ArrowRight: () => move(row, column + 1),
      ArrowLeft: () => move(row, column - 1),
      PageDown: () => move(row + PAGE, column),
      PageUp: () => move(row - PAGE, column),
      Home: () => move(event.ctrlKey ? 0 : row, 0),
      End: () => move(event.ctrlKey ? documents.length - 1 : row, candidates.length - 1),
      Enter: () => onOpen(...here),
      ...(event.ctrlKey || event.metaKey || event.altKey ? {} : { s: () => onStar(...here), n: () => onNote(...here) }),
    };
    const step = event.target instanceof HTMLButtonElement ? undefined : steps[event.key];
    if (!step) return;
    event.preventDefault();
    step();
  };
  if (beginnings.error) return <ErrorNote error={beginnings.error} />;
  return (
    // The cells take the focus; the frame only hears the keys.
    // eslint-disable-next-line jsx-a11y/interactive-supports-focus
    <div
      className={`answers card flush ${density}`}
      ref={frame}
      role="grid"
      aria-label="Answers"
      aria-rowcount={documents.length + 1}
      aria-colcount={candidates.length + 1}
      onKeyDown={onKeyDown}
      onBlur={() => (hasFocus.current = false)}
    >
      <div className="answers-row answers-head" role="row" aria-rowindex={1} style={columnsOf(candidates.length)}>
        <span role="columnheader">Document</span>
        {candidates.map((candidate) => (
          <Head
            key={candidate}
            candidate={candidate}
            number={numberOf(candidate)}
            sorting={sorting}
            onSort={() => onSort(candidate)}
          />
        ))}
      </div>
      <div className="answers-body" role="presentation" style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, key, start, size }) => {
          const document = documents[index];
          return (
            document !== undefined && (
              <Row
                key={key}
                document={document}
                beginnings={beginnings.found.get(document)}
                rowOf={rowOf}
                index={index}
                start={start}
                size={size}
                columns={candidates.length}
                checks={checks}
                column={at.row === index ? at.column : undefined}
                onOpen={onOpen}
              />
            )
          );
        })}
      </div>
    </div>
  );
}

/** The width is named, because the rows are drawn apart from each other and from their head. */
function columnsOf(candidates: number) {
  return {
    gridTemplateColumns: `minmax(var(--answers-name), 1fr) repeat(${candidates}, minmax(0, 1.4fr))`,
    minWidth: `calc(var(--answers-name) + ${CELL_REM * candidates}rem)`,
  };
}

interface RowProps extends Pick<Props, "rowOf" | "checks" | "onOpen"> {
  document: number;
  beginnings: AnswerBeginnings | undefined;
  index: number;
  start: number;
  size: number;
  columns: number;
  /** The cell that the keys are at, if it is in this row. */
  column: number | undefined;
}

/** Memoised, so that scrolling renders only the new ones. */
const Row = memo(function Row({ document, beginnings, rowOf, index, start, size, ...props }: RowProps) {
  const { columns, checks, column, onOpen } = props;
  const row = rowOf(document, beginnings);
  return (
    <div
      className="answers-row"
      role="row"
      aria-rowindex={index + 2}
      style={{ ...columnsOf(columns), height: size, transform: `translateY(${start}px)` }}
    >
      <span role="rowheader" className="answers-name">
        <strong className="clamp">
          <Breakable name={row.name ?? "…"} />
        </strong>
        <span className="small clamp" dir="auto">
          {row.question}
        </span>
      </span>
      {row.cells.map((cell, at) => (
        <Cell
          key={cell.candidate}
          cell={cell}
          checks={checks}
          isHere={column === at}
          onOpen={() => onOpen(row.document, cell.candidate)}
        />
      ))}
    </div>
  );
});

function Head({
  candidate,
  number,
  sorting,
  onSort,
}: {
  candidate: string;
  number: number;
  sorting: Sorting;
  onSort: () => void;
}) {
  const isSorted = sorting.by === candidate;
  const Arrow = sorting.isDescending ? ArrowDown : ArrowUp;
  return (
    <span role="columnheader" aria-sort={isSorted ? (sorting.isDescending ? "descending" : "ascending") : "none"}>
      <button type="button" className="answers-sort" onClick={onSort}>
        <Mark number={number} />{" "}
        <span>
          <Breakable name={candidate} />
        </span>{" "}
        {isSorted && <Arrow size={14} aria-hidden />}
      </button>
    </span>
  );
}

interface CellProps {
  cell: GridCell;
  /** The names of the run's checks. */
  checks: readonly string[];
  isHere: boolean;
  onOpen: () => void;
}

function Cell({ cell, checks, isHere, onOpen }: CellProps) {
  const formats = useFormats();
  const figure =
    cell.share !== null
      ? formats.percent(cell.share)
      : cell.score !== null
        ? formats.decimal(cell.score)
        : cell.checks !== null
          ? formats.percent(cell.checks)
          : "";
  return (
    // The grid hears the keys of all its cells.
    // eslint-disable-next-line jsx-a11y/click-events-have-key-events
    <div role="gridcell" tabIndex={isHere ? 0 : -1} className="answers-cell" onClick={onOpen}>
      <span className="row tight nowrap small">
        <strong className="num">{figure}</strong>
        {cell.marks.map((mark, at) => mark !== null && <CheckMark key={at} name={checks[at] ?? ""} mark={mark} />)}
        {cell.flags.map((flag) => (
          <span key={flag} className={`chip ${flag === "failed" ? "bad" : "warn"}`}>
            {FLAGS[flag]}
          </span>
        ))}
        {cell.kept?.starred && <Star size={14} className="star" role="img" aria-label="starred" />}
        {cell.kept?.note && <NotebookPen size={14} role="img" aria-label={`note: ${cell.kept.note}`} />}
      </span>
      <span className="small clamp" dir="auto">
        {cell.isAwaited ? "…" : cell.beginning}
      </span>
    </div>
  );
}
