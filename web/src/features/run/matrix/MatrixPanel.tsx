import { memo, useMemo, useState } from "react";
import type { Report } from "../../../api/types";
import { useFormats } from "../../../app/context";
import { Button } from "../../../components/Button";
import { NumberHead } from "../../../components/NumberHead";
import { Scroll } from "../../../components/Scroll";
import { Segments } from "../../../components/Segments";
import { Term } from "../../../components/Term";
import { around, upwards } from "./heat";
import { HeatLegend } from "./HeatLegend";

type Measure = "win_share" | "score";

/** A table of thousands of cells blocks the page, so the user asks for more rows. */
const FIRST_ROWS = 60;
const MORE_ROWS = 100;

/** Documents by candidates, and candidates against each other. */
export function MatrixPanel({ report, onOpen }: { report: Report; onOpen: (document: string) => void }) {
  const hasShares = report.documents.some((document) => document.standing.some((cell) => cell.win_share !== null));
  const hasScores = report.documents.some((document) => document.standing.some((cell) => cell.score !== null));
  const [wanted, setMeasure] = useState<Measure>(hasShares ? "win_share" : "score");
  const measure = wanted === "win_share" && !hasShares ? "score" : wanted;
  return (
    <div className="stack wide">
      <section className="stack" aria-labelledby="heat-title">
        <div className="row between">
          <h2 id="heat-title">Documents and candidates</h2>
          {hasShares && hasScores && (
            <Segments
              label="What the cells show"
              value={measure}
              onChange={setMeasure}
              options={[
                ["win_share", "Preferred"],
                ["score", "Score"],
              ]}
            />
          )}
        </div>
        {measure === "win_share" ? (
          <HeatLegend kind="around" low="lost every comparison" high="won every one" middle="no colour is one half" />
        ) : (
          <HeatLegend kind="upwards" low="the lowest score" high="the highest" />
        )}
        <HeatMap report={report} measure={measure} onOpen={onOpen} />
      </section>
      {report.pairs.length > 0 && (
        <section className="stack" aria-labelledby="pairs-title">
          <h2 id="pairs-title">Each against each</h2>
          <Pairs report={report} />
        </section>
      )}
    </div>
  );
}

function HeatMap({
  report,
  measure,
  onOpen,
}: {
  report: Report;
  measure: Measure;
  onOpen: (document: string) => void;
}) {
  const formats = useFormats();
  const [count, setCount] = useState(FIRST_ROWS);
  const order = useMemo(() => report.ranking.rows.map((row) => row.candidate), [report]);
  const [low, high] = useMemo(() => (measure === "win_share" ? [0, 1] : rangeOf(report)), [report, measure]);
  const more = report.documents.length - count;
  return (
    <>
      <Scroll isTall labelledBy="heat-title">
        <table className="table heat" aria-rowcount={report.documents.length + 1}>
          <thead>
            <tr>
              <th scope="col">Document</th>
              {order.map((candidate) => (
                <NumberHead key={candidate}>{candidate}</NumberHead>
              ))}
              <NumberHead>
                <Term of="flip">Flips</Term>
              </NumberHead>
            </tr>
          </thead>
          <tbody>
            {report.documents.slice(0, count).map((document) => (
              <HeatRow
                key={document.document}
                document={document}
                order={order}
                measure={measure}
                low={low}
                high={high}
                onOpen={onOpen}
              />
            ))}
          </tbody>
        </table>
      </Scroll>
      {more > 0 && (
        <div className="row">
          <Button small onPress={() => setCount(count + MORE_ROWS)}>
            Show {formats.integer(Math.min(more, MORE_ROWS))} more
          </Button>
          <span className="small dim num">
            {formats.integer(count)} of {formats.integer(report.documents.length)} documents
          </span>
        </div>
      )}
    </>
  );
}

interface RowProps {
  document: Report["documents"][number];
  order: readonly string[];
  measure: Measure;
  low: number;
  high: number;
  onOpen: (document: string) => void;
}

/** Memoised, so that showing more rows renders only the new ones. */
const HeatRow = memo(function HeatRow({ document, order, measure, low, high, onOpen }: RowProps) {
  const formats = useFormats();
  const cells = new Map(document.standing.map((cell) => [cell.candidate, cell[measure]]));
  return (
    <tr>
      <th scope="row">
        <button type="button" className="link" title={document.name} onClick={() => onOpen(document.document)}>
          {document.name}
        </button>
      </th>
      {order.map((candidate) => {
        const value = cells.get(candidate);
        return value === null || value === undefined ? (
          <td key={candidate} className="n dim">
            –
          </td>
        ) : (
          <td
            key={candidate}
            className="n"
            style={measure === "win_share" ? around(value) : upwards((value - low) / (high - low || 1))}
          >
            {measure === "win_share" ? formats.percent(value) : formats.decimal(value)}
          </td>
        );
      })}
      <td className={`n ${document.flips ? "warn" : "dim"}`}>{document.flips}</td>
    </tr>
  );
});

function rangeOf(report: Report): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const { standing } of report.documents)
    for (const { score } of standing) if (score !== null) [low, high] = [Math.min(low, score), Math.max(high, score)];
  return [low, high];
}

function Pairs({ report }: { report: Report }) {
  const formats = useFormats();
  const order = report.ranking.rows
    .map((row) => row.candidate)
    .filter((name) => report.pairs.some((pair) => pair.a === name || pair.b === name));
  const shares = new Map<string, number>();
  for (const pair of report.pairs) {
    shares.set(`${pair.a}\n${pair.b}`, pair.share);
    shares.set(`${pair.b}\n${pair.a}`, 1 - pair.share);
  }
  return (
    <>
      <Scroll labelledBy="pairs-title">
        <table className="table heat">
          <thead>
            <tr>
              <th scope="col">… won against →</th>
              {order.map((name) => (
                <NumberHead key={name}>{name}</NumberHead>
              ))}
            </tr>
          </thead>
          <tbody>
            {order.map((row) => (
              <tr key={row}>
                <th scope="row">{row}</th>
                {order.map((column) => {
                  const share = shares.get(`${row}\n${column}`);
                  return share === undefined ? (
                    <td key={column} className="n dim">
                      {row === column ? "" : "–"}
                    </td>
                  ) : (
                    <td key={column} className="n" style={around(share)}>
                      {formats.percent(share)}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <p className="small dim">
        How often the candidate of the row won against that of the column; ties count half. Blue won more often than
        not, orange less.
      </p>
    </>
  );
}
