import type { Ranking, Report, Row } from "../../api/types";
import { useFormats } from "../../app/context";
import { Scroll } from "../../components/Scroll";
import { barOf, measureOf } from "./interval";

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
  const hasScores = ranking.rows.some((row) => row.score !== null && row.score !== undefined);
  const name = ranking.basis === "scores" ? "Score" : "Win share";
  return (
    <Scroll label="Ranking">
      <table className="table ranking">
        <thead>
          <tr>
            <th scope="col" className="n">
              Place
            </th>
            <th scope="col">Candidate</th>
            <th scope="col" className="n">
              {name}
            </th>
            <th scope="col" className="interval-head">
              <span>0</span>
              <span>{grey ? "interval (too few documents to read anything off)" : "95 % interval"}</span>
              <span>1</span>
            </th>
            {hasScores && ranking.basis !== "scores" && (
              <th scope="col" className="n">
                Score
              </th>
            )}
            <th scope="col" className="n">
              Credits an answer
            </th>
            <th scope="col" className="n">
              Words
            </th>
          </tr>
        </thead>
        <tbody>
          {ranking.rows.map((row) => {
            const candidate = byLabel.get(row.candidate);
            const measure = measureOf(ranking, row);
            return (
              <tr key={row.candidate}>
                <td className="n place">
                  {row.place ?? "–"} <Moved row={row} before={before} />
                </td>
                <th scope="row">
                  {row.candidate} {row.is_best && <span className="chip good">best</span>}
                  {candidate?.model && candidate.model !== row.candidate && <span className="dim small block">{candidate.model}</span>}
                </th>
                <td className="n">{measure ? formats.decimal(measure.value) : "–"}</td>
                <td className="interval-cell">{measure && <IntervalBar bar={barOf(measure)} grey={grey} label={inWords(measure, formats.decimal)} />}</td>
                {hasScores && ranking.basis !== "scores" && <td className="n">{row.score === null || row.score === undefined ? "–" : formats.decimal(row.score)}</td>}
                <td className="n">{candidate?.cost_per_answer ? formats.money(candidate.cost_per_answer) : "unknown"}</td>
                <td className="n">{candidate?.mean_words ? formats.integer(candidate.mean_words) : "–"}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Scroll>
  );
}

function inWords(measure: NonNullable<ReturnType<typeof measureOf>>, decimal: (value: number) => string): string {
  if (measure.low === null || measure.high === null) return decimal(measure.value);
  return `${decimal(measure.value)}, between ${decimal(measure.low)} and ${decimal(measure.high)}`;
}

function IntervalBar({ bar, grey, label }: { bar: ReturnType<typeof barOf>; grey: boolean; label: string }) {
  return (
    <svg className={`interval ${grey ? "grey" : ""}`} viewBox="0 0 100 20" preserveAspectRatio="none" role="img" aria-label={label}>
      <line x1="0" x2="100" y1="10" y2="10" className="axis" vectorEffect="non-scaling-stroke" />
      <line x1="50" x2="50" y1="2" y2="18" className="middle" vectorEffect="non-scaling-stroke" />
      {bar.low !== undefined && bar.high !== undefined && <line x1={bar.low} x2={bar.high} y1="10" y2="10" className="range" vectorEffect="non-scaling-stroke" />}
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
