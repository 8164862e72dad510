import { Link } from "@tanstack/react-router";
import type { Report, Run } from "../../../api/types";
import { useFormats } from "../../../app/context";
import { Figure } from "../../../components/Figure";
import { Note } from "../../../components/Feedback";
import { beyondBrief, spentExactly, spentInBrief } from "../../../lib/spend";
import { hasEnded } from "../../../lib/states";

/** What the verdict rests on, in numbers. */
export function VerdictFacts({ run, report }: { run: Run; report: Report }) {
  const formats = useFormats();
  const { counts } = report.ranking;
  // Between two rounds lies whatever time the user took.
  const isOne = report.rounds === 1 && run.started_at && run.finished_at;
  const seconds = isOne ? (Date.parse(run.finished_at ?? "") - Date.parse(run.started_at ?? "")) / 1000 : undefined;
  const begun = run.started_at ?? run.created_at;
  const verdicts = counts.planned - counts.missing - counts.invalid;
  return (
    <dl className="figures compact">
      <Figure name="Documents" value={formats.integer(report.documents_total)} />
      <Figure name="Candidates" value={formats.integer(report.candidates.length)} />
      <Figure name="Judges" value={formats.integer(report.judges.length)} />
      {counts.planned > 0 && (
        <Figure
          name="Verdicts"
          value={formats.integer(verdicts)}
          {...(verdicts < counts.planned ? { hint: `of ${formats.integer(counts.planned)}` } : {})}
        />
      )}
      <Figure name="Calls" value={formats.integer(report.spend.calls)} />
      <Figure
        name="Cost"
        value={spentInBrief(report.spend, formats, hasEnded(run.state))}
        title={spentExactly(report.spend, formats)}
        {...(report.spend.unknown_calls ? { hint: beyondBrief(report.spend, formats) } : {})}
      />
      {run.spend.reused ? (
        <Figure name="Reused" value={formats.integer(run.spend.reused)} hint="results of earlier runs" />
      ) : null}
      {run.started_at && (
        <Figure
          name="Started"
          value={formats.dateTime(begun)}
          {...(seconds === undefined ? {} : { hint: `took ${formats.duration(seconds)}` })}
        />
      )}
    </dl>
  );
}

/** What went wrong, and where to look. */
export function Troubles({ run }: { run: Run }) {
  const formats = useFormats();
  const { failed } = run.progress;
  if (!failed) return null;
  return (
    <Note tone="warn">
      <p>
        {failed === 1 ? "One task" : formats.counted(failed, "task")} failed, and the verdict leaves{" "}
        {failed === 1 ? "it" : "them"} out.{" "}
        <Link to="/runs/$runId" params={{ runId: run.id }} search={{ tab: "tasks", state: "failed" }}>
          See which, and why
        </Link>
      </p>
    </Note>
  );
}

/** Shown before anything was judged, when there is no verdict yet. */
export function NoVerdictYet({ run, report }: { run: Run; report: Report }) {
  const formats = useFormats();
  const { documents_total: documents, candidates, judges } = report;
  const what = [
    formats.counted(documents, "document"),
    formats.counted(candidates.length, "candidate"),
    formats.counted(judges.length, "judge"),
  ].join(", ");
  return (
    <section className="verdict card" aria-label="Verdict">
      <p className="sentence">
        {run.state === "pending"
          ? "Ready to be started."
          : run.state === "paused"
            ? "No verdict yet: the comparison is paused."
            : "No verdict yet: there are no judgements."}
      </p>
      <p className="dim">
        {what}: {formats.counted(run.progress.total, "task")} in all.{" "}
        {run.state === "pending"
          ? "Nothing is spent until you start it."
          : judges.length
            ? "The ranking appears here with the first judgements, and stays up to date while more come in."
            : "No judge takes part: nothing will be compared."}
      </p>
    </section>
  );
}
