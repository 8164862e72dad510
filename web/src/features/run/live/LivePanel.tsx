import type { Kind, Run } from "../../../api/types";
import { useFormats } from "../../../app/context";
import { Figure } from "../../../components/Figure";
import { ProgressBar } from "../../../components/ProgressBar";
import { hasEnded, PHASES, wordsForPhase } from "../../../lib/states";
import { beyondBrief, spentExactly, spentInBrief } from "../../../lib/spend";
import type { LiveView } from "../liveRun";
import { phaseTotals } from "./phaseTotals";

/** A run at work: where it is, how fast, how long still, and what it has cost. */
export function LivePanel({ run, live }: { run: Run; live: LiveView }) {
  const formats = useFormats();
  const { progress, spend } = run;
  const done = progress.succeeded + progress.failed + progress.skipped;
  const isRunning = run.state === "running";
  const timeLeft = isRunning ? progress.eta_seconds : null;
  return (
    <section className="card stack" aria-label="Progress">
      <div className="row between">
        <strong className="num percent">{formats.percent(progress.percent / 100)}</strong>
        <span className="small dim row tight" role="status">
          {isRunning && live.isLive && <span className="dot pulse good" aria-hidden />}
          {isRunning && (live.isLive ? <span>live</span> : "connecting…")}
        </span>
      </div>
      <ProgressBar progress={progress} label="Progress of the run" />
      <Phases run={run} live={live} />
      <dl className="figures">
        <Figure name="Tasks" value={`${formats.integer(done)} of ${formats.integer(progress.total)}`} />
        <Figure name="In flight" value={formats.integer(progress.running)} />
        <Figure name="Rate" value={isRunning && live.perSecond !== undefined ? formats.rate(live.perSecond) : "–"} />
        <Figure
          name="Time left"
          value={timeLeft === null ? "–" : formats.duration(timeLeft)}
          {...(isRunning ? { hint: timeLeft === null ? "too early to tell" : "at the present pace" } : {})}
        />
        <Figure name="Failed" value={formats.integer(progress.failed)} tone={progress.failed ? "bad" : ""} />
        <Figure
          name="Spent"
          value={spentInBrief(spend, formats, hasEnded(run.state))}
          title={spentExactly(spend, formats)}
          {...budgetHint(run, formats)}
        />
        {spend.reused ? (
          <Figure name="Reused" value={formats.integer(spend.reused)} hint="results of earlier runs" />
        ) : null}
        {progress.saved ? (
          <Figure
            name="Saved"
            value={`${formats.integer(progress.saved)} of ${formats.integer(progress.total + progress.saved)}`}
            hint={
              Number(progress.saved_cost)
                ? `tasks, about ${formats.dollars(progress.saved_cost ?? "0")}, by looking on the way`
                : "tasks, by looking on the way"
            }
          />
        ) : null}
      </dl>
    </section>
  );
}

/** How many tasks of each phase are done, and out of how many where that is known. */
function Phases({ run, live }: { run: Run; live: LiveView }) {
  const formats = useFormats();
  const saved = run.progress.saved ?? 0;
  // What looks saved is in no phase's total of its own, so the totals are those of the whole plan.
  const totals = phaseTotals(run.configuration, run.progress.total + saved);
  return (
    <ol className="phases">
      {phasesOf(run).map((phase) => {
        const done = live.done[phase];
        const total = totals?.[phase];
        return (
          <li
            key={phase}
            className={phase === run.phase ? "now" : ""}
            aria-current={phase === run.phase ? "step" : undefined}
          >
            <span>{wordsForPhase(phase)}</span>
            <span className="num">
              <strong>{formats.integer(done)}</strong>
              {total !== undefined && ` of ${formats.integer(total)}${saved ? " planned" : ""}`}
            </span>
            {total !== undefined && (
              <i
                className="part"
                style={{ width: `${total ? Math.min(100, (100 * done) / total) : 0}%` }}
                aria-hidden
              />
            )}
          </li>
        );
      })}
    </ol>
  );
}

function budgetHint({ configuration, spend }: Run, formats: ReturnType<typeof useFormats>): { hint?: string } {
  const { budget } = configuration.limits ?? {};
  const hint = [budget ? `of a budget of ${formats.dollars(String(budget))}` : "", beyondBrief(spend, formats)]
    .filter(Boolean)
    .join(", ");
  return hint ? { hint } : {};
}

/** The phases that this run has. */
function phasesOf({ configuration }: Run): Kind[] {
  return PHASES.filter((phase) => {
    if (phase === "score") return Boolean(configuration.scoring);
    if (phase === "compare") return Boolean(configuration.comparison);
    if (phase === "combine") return Boolean(configuration.combination);
    return true;
  });
}
