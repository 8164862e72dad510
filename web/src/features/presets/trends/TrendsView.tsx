import { Link } from "@tanstack/react-router";
import type { TrendPoint, Trends } from "../../../api/types";
import { useFormats } from "../../../app/context";
import { EndingsNote } from "../../../components/EndingsNote";
import { SelectField } from "../../../components/Field";
import { NumberHead } from "../../../components/NumberHead";
import { Scroll } from "../../../components/Scroll";
import { range } from "../../../lib/intervals";
import { beyondBrief, inTime, spentInBrief } from "../../../lib/spend";
import { type Measure, measuresOf, valueOf } from "./measures";
import { TrendChart } from "./TrendChart";

export interface Chosen {
  candidate?: string | undefined;
  baseline?: string | undefined;
  measure?: string | undefined;
}

interface Props {
  trends: Trends;
  chosen: Chosen;
  onChoose: (changes: Partial<Chosen>) => void;
}

export function TrendsView({ trends, chosen, onChoose }: Props) {
  const formats = useFormats();
  const { points, candidate, baseline, candidates } = trends;
  const measures = measuresOf(trends);
  const measure = measures.find(({ id }) => id === chosen.measure) ?? measures[0];
  const last = points.find(({ run }) => run === trends.last_good);
  const points100 = (value: number) => `${value > 0 ? "+" : ""}${formats.integer(100 * value)}`;
  const write = (value: number) => (measure?.reach === undefined ? formats.percent(value) : points100(value));
  return (
    <div className="stack wide">
      <EndingsNote endings={trends.endings ?? []} />
      <div className="row">
        <SelectField
          label="Candidate"
          value={candidate ?? ""}
          onChange={(event) =>
            onChoose({
              candidate: event.target.value,
              ...(event.target.value === baseline ? { baseline: undefined } : {}),
            })
          }
        >
          {candidates.map((label) => (
            <option key={label}>{label}</option>
          ))}
        </SelectField>
        <SelectField
          label="Baseline"
          value={baseline ?? ""}
          onChange={(event) =>
            onChoose({ baseline: event.target.value || undefined, candidate: candidate ?? undefined })
          }
        >
          <option value="">none</option>
          {candidates
            .filter((label) => label !== candidate)
            .map((label) => (
              <option key={label}>{label}</option>
            ))}
        </SelectField>
        {measures.length > 0 && (
          <SelectField
            label="What to draw"
            value={measure?.id ?? ""}
            onChange={(event) => onChoose({ measure: event.target.value })}
          >
            {measures.map(({ id, label }) => (
              <option key={id} value={id}>
                {label}
              </option>
            ))}
          </SelectField>
        )}
      </div>
      <section className="card stack tight" aria-label="The last good run">
        <p>
          {last ? (
            <>
              The last good run is{" "}
              <Link to="/runs/$runId" params={{ runId: last.run }}>
                {last.name}
              </Link>{" "}
              of {formats.dateTime(last.created_at)}
              {last === points[0] ? ", the newest one." : "."}
            </>
          ) : (
            "No run is known to be good."
          )}
        </p>
        <p className="small dim">{trends.rule}</p>
      </section>
      {measure && points.length === 1 ? (
        <p className="dim">One run so far: a second one begins the line.</p>
      ) : measure ? (
        <div className="card">
          <TrendChart
            points={points}
            measure={measure}
            lastGood={trends.last_good}
            write={write}
            words={`${measure.label} of ${candidate ?? ""} in ${formats.counted(points.length, "run")}`}
          />
        </div>
      ) : (
        <p className="dim">No run has a figure of this candidate: nothing was compared, scored or checked.</p>
      )}
      <TrendsTable trends={trends} measure={measure} write={write} />
      {trends.left_out > 0 && (
        <p className="small dim">
          {formats.counted(trends.left_out, "older run")} {trends.left_out === 1 ? "is" : "are"} not shown.
        </p>
      )}
    </div>
  );
}

interface TableProps {
  trends: Trends;
  measure: Measure | undefined;
  write: (value: number) => string;
}

function TrendsTable({ trends, measure, write }: TableProps) {
  const formats = useFormats();
  return (
    <Scroll label="Runs of the preset">
      <table className="table data">
        <thead>
          <tr>
            <th scope="col">Run</th>
            {measure && <NumberHead>{measure.label}</NumberHead>}
            <th scope="col">Good</th>
            <th scope="col">Changed</th>
            <NumberHead>Documents</NumberHead>
            <NumberHead>Cost</NumberHead>
            <NumberHead>Median time</NumberHead>
          </tr>
        </thead>
        <tbody>
          {trends.points.map((point) => (
            <tr key={point.run}>
              <th scope="row">
                <Link to="/runs/$runId" params={{ runId: point.run }}>
                  {point.name}
                </Link>
                <span className="dim small block">{formats.dateTime(point.created_at)}</span>
              </th>
              {measure && <Figures point={point} measure={measure} write={write} />}
              <td data-label="Good">
                <Good point={point} />
              </td>
              <td data-label="Changed">
                {point.changed.join(", ") || <span className="dim">–</span>}
                {point.data_set_version !== null && (
                  <span className="dim small block">rows of version {formats.integer(point.data_set_version)}</span>
                )}
              </td>
              <td className="n" data-label="Documents">
                {formats.integer(point.documents)}
              </td>
              <td className="n" data-label="Cost">
                {spentInBrief(point, formats)}
                {point.unknown_calls > 0 && <span className="dim small block">{beyondBrief(point, formats)}</span>}
              </td>
              <td className="n" data-label="Median time">
                {inTime(point.median_latency_ms ?? null, formats)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function Figures({ point, measure, write }: { point: TrendPoint; measure: Measure; write: (value: number) => string }) {
  const found = valueOf(point, measure);
  return (
    <td className="n" data-label={measure.label}>
      <strong>{found ? write(found.value) : "–"}</strong>
      {found && found.low !== null && found.high !== null && (
        <span className="dim small block">{range(found.low, found.high, write)}</span>
      )}
    </td>
  );
}

function Good({ point }: { point: TrendPoint }) {
  if (point.good === true) return <span className="chip good">good</span>;
  if (point.good === false)
    return (
      <>
        <span className="chip bad">worse</span>
        {point.fell && point.fell.length > 0 && <span className="dim small block">{point.fell.join(", ")}</span>}
      </>
    );
  return <span className="dim">{point.gate === "undecided" ? "cannot be told" : "–"}</span>;
}
