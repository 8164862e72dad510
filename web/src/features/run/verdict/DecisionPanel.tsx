import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Report, Run } from "../../../api/types";
import { useApi, useFormats } from "../../../app/context";
import { Note } from "../../../components/Feedback";
import { measureOf } from "../../../lib/interval";
import { hasEnded, hasResult } from "../../../lib/states";
import { unbroken } from "../../../lib/unbroken";
import { earlierRound, otherRunsQuery } from "../queries";
import { rankedIn } from "../ranked";
import { RankingTable } from "../RankingTable";
import { outcomeOf } from "./outcome";
import { Sureness } from "./Sureness";
import { NoVerdictYet, Troubles } from "./VerdictFacts";
import { WhereWorse } from "./WhereWorse";

interface Props {
  run: Run;
  report: Report;
  onOpen: (document: string, left: string, right: string) => void;
}

/** Which one to take, at a glance: a sentence with money, a chart, the one doubt, and where the other one is worse. */
export function DecisionPanel({ run, report, onOpen }: Props) {
  const { decision, verdict } = report;
  const outcome = outcomeOf(report);
  const ranking = rankedIn(report);
  const isRanked = ranking.rows.some((row) => measureOf(ranking, row));
  if (!isRanked && !hasEnded(run.state))
    return (
      <div className="stack wide">
        <NoVerdictYet run={run} report={report} />
        <Troubles run={run} />
      </div>
    );
  return (
    <div className="stack wide">
      <section className={`verdict card ${outcome.tone === "good" ? "" : "open"}`} aria-label="Verdict">
        <div className="row tight">
          <span className={`chip ${outcome.tone}`}>{outcome.label}</span>
          {!report.finished && <span className="chip info">so far</span>}
          {report.rounds > 1 && (
            <span className="chip">
              round {report.round} of {report.rounds}
            </span>
          )}
          {decision.sure && <Sureness marks={decision.marks} words={decision.sure} />}
        </div>
        <p className="sentence">{unbroken(decision.headline)}</p>
        {decision.reason && <p className="reason">{unbroken(decision.reason)}</p>}
        {isRanked ? (
          <section aria-label="Ranking">
            <RankingTable report={report} ranking={ranking} grey={verdict.grey} isFixed />
          </section>
        ) : (
          <Note>There is nothing to rank.</Note>
        )}
        {decision.doubt && <Doubt run={run} report={report} doubt={decision.doubt} />}
        {run.preset_id && hasEnded(run.state) && <Before run={run} />}
      </section>
      <Troubles run={run} />
      <WhereWorse report={report} onOpen={onOpen} />
    </div>
  );
}

/** The way to what changed since the last run of the same preset that has a result. */
function Before({ run }: { run: Run }) {
  const formats = useFormats();
  const before = useQuery(otherRunsQuery(useApi())).data?.items.find(
    (one) => one.preset_id === run.preset_id && one.created_at < run.created_at && hasResult(one.state),
  );
  if (!before) return null;
  return (
    <p className="small">
      <Link to="/runs/compare/$here/$there" params={{ here: run.id, there: before.id }}>
        Against the run of {formats.dateTime(before.created_at)}
      </Link>
    </p>
  );
}

/** The doubt that matters most, with what settles it. */
function Doubt({ run, report, doubt }: { run: Run; report: Report; doubt: string }) {
  const isPresent = hasEnded(run.state) && earlierRound(report) === undefined;
  const { settled_by: by } = report.decision;
  return (
    <div className="row between doubt">
      <p>
        <strong>One doubt:</strong> {unbroken(doubt)}
      </p>
      {isPresent && by === "votes" && (
        <Link
          to="/runs/$runId"
          params={{ runId: run.id }}
          search={{ tab: "people", vote: "now" }}
          className="btn primary small"
        >
          Judge 10 yourself
        </Link>
      )}
      {isPresent && by === "documents" && run.preset_id && (
        <Link to="/presets/$presetId" params={{ presetId: run.preset_id }} className="btn small">
          Add documents to its preset
        </Link>
      )}
    </div>
  );
}
