import { useQuery } from "@tanstack/react-query";
import type { Run, Split, SplitPart } from "../../../api/types";
import { useApi, useFormats } from "../../../app/context";
import { Mark } from "../../../components/Mark";
import { NumberHead } from "../../../components/NumberHead";
import { QueryView } from "../../../components/QueryView";
import { Scroll } from "../../../components/Scroll";
import { labelsOf } from "../../../lib/candidates";
import type { Formats } from "../../../lib/format";
import { writtenShare } from "../../../lib/intervals";
import { splitQuery } from "../queries";

interface Props {
  run: Run;
  /** An earlier one, or nothing for the present. */
  round: number | undefined;
  column: string | undefined;
  onColumn: (column: string | undefined) => void;
}

/** The results by the values of a column of the run's rows; nothing where there is no column to split by. */
export function SplitPanel({ run, round, column, onColumn }: Props) {
  const api = useApi();
  const columns = useQuery(splitQuery(api, run.id, undefined)).data?.columns ?? [];
  if (!columns.length) return null;
  return (
    <section className="stack" aria-labelledby="split-title">
      <div className="row between">
        <h2 id="split-title">By a column</h2>
        <select
          className="input narrow"
          aria-label="Split by"
          value={column ?? ""}
          onChange={(event) => onColumn(event.target.value || undefined)}
        >
          <option value="">Choose a column</option>
          {columns.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </div>
      {column && <Shown run={run} round={round} column={column} />}
    </section>
  );
}

function Shown({ run, round, column }: Pick<Props, "run" | "round"> & { column: string }) {
  const query = useQuery(splitQuery(useApi(), run.id, column, round));
  return (
    <QueryView query={query}>
      {(split) => (
        <>
          <ul className="doubts">
            {split.notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
          <SplitTable split={split} labels={labelsOf(run.configuration)} />
        </>
      )}
    </QueryView>
  );
}

function SplitTable({ split, labels }: { split: Split; labels: readonly (string | undefined)[] }) {
  const formats = useFormats();
  const isJudged = split.basis !== "none";
  return (
    <Scroll label={`Results by ${split.column ?? "column"}`}>
      <table className="table split">
        <thead>
          <tr>
            <th scope="col">{split.column}</th>
            <NumberHead>Rows</NumberHead>
            <th scope="col">Candidate</th>
            {isJudged && <NumberHead>{split.basis === "scores" ? "Score" : "Preferred"}</NumberHead>}
            {split.checks.length > 0 && <NumberHead>Checks</NumberHead>}
            {isJudged && <NumberHead>Verdicts missing</NumberHead>}
          </tr>
        </thead>
        {split.parts.map((part) => (
          <tbody key={`${part.kind} ${part.value ?? ""}`}>
            {part.rows.map((row, place) => (
              <tr key={row.candidate}>
                {place === 0 && (
                  <>
                    <th scope="rowgroup" rowSpan={part.rows.length}>
                      <Named part={part} formats={formats} />
                    </th>
                    <td className="n" rowSpan={part.rows.length}>
                      {formats.integer(part.documents)}
                      {part.few && <span className="dim small block">few</span>}
                    </td>
                  </>
                )}
                <td>
                  <Mark number={labels.indexOf(row.candidate)} /> {row.candidate}
                </td>
                {isJudged && <Rate rate={row.preferred} formats={formats} />}
                {split.checks.length > 0 && <Rate rate={row.passes} formats={formats} />}
                {isJudged && place === 0 && (
                  <td className="n" rowSpan={part.rows.length}>
                    {part.planned ? `${formats.integer(part.missing)} of ${formats.integer(part.planned)}` : "–"}
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        ))}
      </table>
    </Scroll>
  );
}

function Named({ part, formats }: { part: SplitPart; formats: Formats }) {
  if (part.kind === "value") return <>{part.value}</>;
  const words = part.kind === "none" ? "no value" : formats.counted(part.values, "rarer value");
  return <span className="dim">{words}</span>;
}

function Rate({ rate, formats }: { rate: SplitPart["rows"][number]["preferred"]; formats: Formats }) {
  const { value, interval } = writtenShare(rate ?? { share: null, low: null, high: null }, formats);
  return (
    <td className="n">
      <strong>{value}</strong>
      {interval && <span className="dim small block">{interval}</span>}
    </td>
  );
}
