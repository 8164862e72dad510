import { Link } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import type { Leaderboard } from "../../api/types";
import { useFormats } from "../../app/context";
import { DataTable } from "../../components/table/DataTable";
import { Note, Skeleton } from "../../components/Feedback";
import { madeBy } from "../../lib/modelAt";
import { part } from "../../lib/part";
import { unbroken } from "../../lib/unbroken";
import type { TableView } from "../../lib/tableView";
import { columnsOf, entriesOf } from "./columns";
import { sharedBy } from "./groups";

const QualityChart = lazy(
  part(() => import("../../components/quality/QualityChart").then((m) => ({ default: m.QualityChart }))),
);

interface Props {
  board: Leaderboard;
  view: TableView;
  onView: (view: TableView) => void;
}

/** One group of runs that can be ranked together: what it shows, its candidates, and its runs. */
export function BoardSection({ board, view, onView }: Props) {
  const formats = useFormats();
  const { verdict, ranking, note, people, candidates } = board;
  const entries = entriesOf(board);
  const isRanked = entries.some(({ measure }) => measure);
  const doubts = [...(note ? [note] : []), ...(verdict?.notes ?? [])];
  return (
    <section className="stack wide" aria-labelledby="board-title">
      <h2 id="board-title">{sharedBy(board, formats)}</h2>
      {verdict && (
        <div className={`verdict card ${verdict.outcome === "decided" && !verdict.doubted ? "" : "open"}`}>
          <p className={isRanked ? "sentence long" : ""}>{unbroken(verdict.sentence)}</p>
          <p className="dim">This is {verdict.scope}.</p>
          {doubts.length > 0 && (
            <ul className="doubts">
              {doubts.map((doubt) => (
                <li key={doubt}>{unbroken(doubt)}</li>
              ))}
            </ul>
          )}
          {people && (
            <p>
              <strong>What people would say:</strong> {people.sentence}
            </p>
          )}
        </div>
      )}
      {isRanked && ranking && (
        <section className="stack" aria-labelledby="board-chart-title">
          <h2 id="board-chart-title">Quality against cost and length</h2>
          <div className="card">
            <Suspense fallback={<Skeleton lines={6} />}>
              <QualityChart ranking={ranking} candidates={candidates} />
            </Suspense>
          </div>
        </section>
      )}
      {!isRanked && (
        <Note>No judge compared or scored these candidates, so nothing says which answers are better.</Note>
      )}
      <section className="stack" aria-labelledby="board-candidates-title">
        <h2 id="board-candidates-title">Candidates</h2>
        <DataTable
          label="Candidates"
          className="roomy"
          unsorted={isRanked ? "Place in the ranking" : "Order in the newest run"}
          rows={entries}
          keyOf={({ candidate }) => candidate.candidate}
          columns={columnsOf(entries, ranking, formats)}
          view={view}
          onView={onView}
          wordsOf={({ candidate }) => `${candidate.candidate} ${madeBy(candidate) ?? ""}`}
        />
      </section>
      <RunsOf board={board} />
    </section>
  );
}

function RunsOf({ board: { runs } }: { board: Leaderboard }) {
  const formats = useFormats();
  return (
    <section className="stack" aria-labelledby="board-runs-title">
      <h2 id="board-runs-title">Comparisons in this ranking</h2>
      <ul className="card flush">
        {runs.map(({ id, name, finished_at, preset_id }, place) => {
          const isFirstOfPreset = runs.findIndex((run) => run.preset_id === preset_id) === place;
          return (
            <li key={id} className="list-row board-run">
              <Link to="/runs/$runId" params={{ runId: id }} className="title">
                {name}
              </Link>
              <span className="dim small">{finished_at && formats.dateTime(finished_at)}</span>
              {preset_id && isFirstOfPreset && (
                <Link to="/presets/$presetId/trends" params={{ presetId: preset_id }} className="small">
                  Trends <span className="visually-hidden">of the preset of {name}</span>
                </Link>
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
}
