import type { Ranking, Report, Row } from "../../api/types";
import { useFormats } from "../../app/context";
import { Mark } from "../../components/Mark";
import { NumberHead } from "../../components/NumberHead";
import { Scroll } from "../../components/Scroll";
import { Term } from "../../components/Term";
import { placesFor } from "../../lib/format";
import { barOf, type Measure, measureOf } from "../../lib/interval";
import { perThousand } from "../../lib/spend";

interface Props {
  report: Report;
  ranking: Ranking;
  grey: boolean;
  /** The places that candidates had before, to show who moved. */
  before?: ReadonlyMap<string, number>;
}

export function RankingTable({ report, ranking, grey, before }: Props) {
  const formats = useFormats();
  const byLabel = new Map(report.candidates.map((candidate) => [candidate.candidate, candidate]));
  const hasScores =
    ranking.basis !== "scores" && ranking.rows.some((row) => row.score !== null && row.score !== undefined);
  const hasGaps = report.candidates.some((candidate) => candidate.delivered < candidate.answers);
  const costs = new Map(
    report.candidates.flatMap(({ candidate, cost_per_answer: cost }) => (cost ? [[candidate, perThousand(cost)]] : [])),
  );
  const places = placesFor([...costs.values()]);
  const share = (value: number) => (ranking.basis === "scores" ? formats.decimal(value) : formats.percent(value));
  const hasIntervals = ranking.rows.some((row) => measureOf(ranking, row)?.low !== null);
  return (
    <div className="stack tight">
      <Scroll label="Ranking">
        <table className="table ranking">
          <thead>
            <tr>
              <NumberHead>Place</NumberHead>
              <th scope="col">Candidate</th>
              <NumberHead>{ranking.basis === "scores" ? "Score" : <Term of="preferred">Preferred</Term>}</NumberHead>
              <th scope="col" className="interval-head">
                <span className="visually-hidden">Drawn, from </span>
                <span className="ends">
                  {[0, 0.5, 1].map((end) => (
                    <span key={end}>{ranking.basis === "scores" ? formats.decimal(end, 1) : formats.percent(end)}</span>
                  ))}
                </span>
              </th>
              {hasScores && <NumberHead>Score</NumberHead>}
              {hasGaps && <NumberHead>Answered</NumberHead>}
              <NumberHead>Cost per 1,000</NumberHead>
              <NumberHead>Words</NumberHead>
            </tr>
          </thead>
          <tbody>
            {ranking.rows.map((row) => {
              const candidate = byLabel.get(row.candidate);
              const measure = measureOf(ranking, row);
              const bar = measure && <IntervalBar measure={measure} grey={grey} label={inWords(measure, share)} />;
              return (
                <tr key={row.candidate}>
                  <td className="n place">
                    {row.place ?? "–"} <Moved row={row} before={before} />
                  </td>
                  <th scope="row">
                    <Mark number={report.candidates.findIndex((one) => one.candidate === row.candidate)} />{" "}
                    {row.candidate} {row.is_best && <span className="chip good">best</span>}
                    {candidate?.model && candidate.model !== row.candidate && (
                      <span className="dim small block">{candidate.model}</span>
                    )}
                    <span className="interval-below">{bar}</span>
                  </th>
                  <td className="n">
                    <strong>{measure ? share(measure.value) : "–"}</strong>
                    {measure && measure.low !== null && measure.high !== null && (
                      <span className="dim small block">
                        {share(measure.low)} – {share(measure.high)}
                      </span>
                    )}
                    {typeof row.panel_low === "number" && typeof row.panel_high === "number" && (
                      <span className="dim small block">
                        other judges: {share(row.panel_low)} – {share(row.panel_high)}
                      </span>
                    )}
                  </td>
                  <td className="interval-cell">{bar}</td>
                  {hasScores && (
                    <td className="n">
                      {row.score === null || row.score === undefined ? "–" : formats.decimal(row.score)}
                    </td>
                  )}
                  {hasGaps && (
                    <td className={`n ${candidate && candidate.delivered < candidate.answers ? "warn" : ""}`}>
                      {candidate && `${formats.integer(candidate.delivered)} of ${formats.integer(candidate.answers)}`}
                    </td>
                  )}
                  <td className="n">
                    <Cost cost={costs.get(row.candidate)} places={places} />
                  </td>
                  <td className="n">{candidate?.mean_words ? formats.integer(candidate.mean_words) : "–"}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </Scroll>
      <p className="small dim">
        {hasIntervals && (
          <>
            The <Term of="interval">range</Term>
          </>
        )}
        {hasIntervals &&
          ` is where the value lies with a certainty of ${formats.percent(0.95)}, for documents like these${ranking.look ? ", at all looks of the run together" : ""}. `}
        {ranking.rows.some((row) => typeof row.first_low === "number") &&
          "Luck helps a candidate to come first, so the range of the first one begins lower to allow for that. "}
        {grey && "There are too few documents for a conclusion. "}
        {ranking.basis !== "scores" && "The dashed line is one half: as often preferred as not."}
      </p>
    </div>
  );
}

function Cost({ cost, places }: { cost: string | undefined; places: number }) {
  const formats = useFormats();
  if (cost === undefined) return <span className="dim">unknown</span>;
  return <>{Number(cost) ? formats.dollars(cost, places) : "free"}</>;
}

function inWords(measure: Measure, write: (value: number) => string): string {
  if (measure.low === null || measure.high === null) return write(measure.value);
  return `${write(measure.value)}, between ${write(measure.low)} and ${write(measure.high)}`;
}

function IntervalBar({ measure, grey, label }: { measure: Measure; grey: boolean; label: string }) {
  const bar = barOf(measure);
  return (
    <svg
      className={`interval ${grey ? "grey" : ""}`}
      viewBox="0 0 100 20"
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <line x1="0" x2="100" y1="10" y2="10" className="axis" vectorEffect="non-scaling-stroke" />
      <line x1="50" x2="50" y1="0" y2="20" className="middle" vectorEffect="non-scaling-stroke" />
      {bar.low !== undefined && bar.high !== undefined && (
        <line x1={bar.low} x2={bar.high} y1="10" y2="10" className="range" vectorEffect="non-scaling-stroke" />
      )}
      <line x1={bar.at} x2={bar.at} y1="3" y2="17" className="point" vectorEffect="non-scaling-stroke" />
    </svg>
  );
}

function Moved({ row, before }: { row: Row; before: ReadonlyMap<string, number> | undefined }) {
  const old = before?.get(row.candidate);
  if (!before || old === undefined || !row.place || old === row.place) return null;
  const up = row.place < old;
  return (
    <span className={up ? "good" : "bad"}>
      <span aria-hidden>{up ? "▲" : "▼"}</span>
      <span className="visually-hidden">
        {up ? "up" : "down"} from {old}
      </span>
    </span>
  );
}
