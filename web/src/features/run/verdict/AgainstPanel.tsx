import { Scroll } from "../../../components/Scroll";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Report, Run } from "../../../api/types";
import { Mark } from "../../../components/Mark";
import { useApi, useFormats } from "../../../app/context";
import { otherRunsQuery } from "../queries";
import { numbersIn } from "../../../lib/candidates";

interface Props {
  run: Run;
  report: Report;
  against: string | undefined;
  onAgainst: (runId: string | undefined) => void;
}

type Standing = NonNullable<NonNullable<Report["against"]>["rows"][number]["here"]>;

/** Compares this run with another one, by the labels of the candidates. */
export function AgainstPanel({ run, report, against, onAgainst }: Props) {
  const formats = useFormats();
  const others = useQuery(otherRunsQuery(useApi()));
  const choices = others.data?.items.filter((other) => other.id !== run.id) ?? [];
  const found = against ? report.against : null;
  const share = (standing: Standing | null) => {
    if (!standing) return <span className="dim">not in it</span>;
    const value =
      standing.win_share === null
        ? standing.score === null
          ? "–"
          : formats.decimal(standing.score)
        : formats.percent(standing.win_share);
    return `${standing.place === null ? "–" : `place ${formats.integer(standing.place)}`} · ${value}`;
  };
  return (
    <section className="stack" aria-labelledby="against-title">
      <div className="row between">
        <h2 id="against-title">Beside another comparison</h2>
        <select
          className="input narrow"
          aria-label="The other comparison"
          value={against ?? ""}
          onChange={(event) => onAgainst(event.target.value || undefined)}
        >
          <option value="">Choose a comparison</option>
          {choices.map((other) => (
            <option key={other.id} value={other.id}>
              {other.name} · {formats.dateTime(other.created_at)}
            </option>
          ))}
        </select>
      </div>
      {run.preset_id && (
        <p className="small">
          <Link to="/presets/$presetId/trends" params={{ presetId: run.preset_id }}>
            Follow a candidate over all comparisons of this preset
          </Link>
        </p>
      )}
      {found && (
        <div className="card stack">
          <p>
            <strong>{found.run.name}</strong> says: {found.verdict}
          </p>
          <p className="dim small">
            {found.shared_documents} of its {found.documents} documents are in this one too. {found.notes.join(" ")}
          </p>
          <Scroll isPlain labelledBy="against-title">
            <table className="table">
              <thead>
                <tr>
                  <th scope="col">Candidate</th>
                  <th scope="col">Here</th>
                  <th scope="col">There</th>
                </tr>
              </thead>
              <tbody>
                {found.rows.map((row) => (
                  <tr key={row.candidate}>
                    <th scope="row">
                      <Mark number={numbersIn(report.candidates)(row.candidate)} /> {row.candidate}
                    </th>
                    <td>{share(row.here)}</td>
                    <td>{share(row.there)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
          <p>
            <Link to="/runs/compare/$here/$there" params={{ here: run.id, there: found.run.id }}>
              See both side by side, document by document
            </Link>
          </p>
        </div>
      )}
    </section>
  );
}
