import type { Kind, Run } from "../../api/types";
import { useFormats } from "../../app/context";
import { ProgressBar } from "../../components/ProgressBar";
import { PHASES, wordsForPhase } from "../../lib/states";
import type { LiveView } from "./liveRun";

/** A run at work: where it is, how fast, how long still, and what it has cost. */
export function LivePanel({ run, live }: { run: Run; live: LiveView }) {
  const formats = useFormats();
  const { progress, spend } = run;
  const done = progress.succeeded + progress.failed + progress.skipped;
  const isRunning = run.state === "running";
  return (
    <section className="card stack" aria-label="Progress">
      <div className="row between">
        <strong className="num">{progress.percent} %</strong>
        <span className="small dim" role="status">
          {live.isLive ? "live" : run.state === "pending" ? "" : "connecting…"}
        </span>
      </div>
      <ProgressBar progress={progress} label="Progress of the run" />
      <ol className="phases">
        {phasesOf(run).map((phase) => (
          <li key={phase} className={phase === run.phase ? "now" : ""} aria-current={phase === run.phase ? "step" : undefined}>
            <span>{wordsForPhase(phase)}</span>
            <strong className="num">{formats.integer(live.done[phase])}</strong>
          </li>
        ))}
      </ol>
      <dl className="figures">
        <Figure name="Tasks" value={`${formats.integer(done)} of ${formats.integer(progress.total)}`} />
        <Figure name="In flight" value={formats.integer(progress.running)} />
        <Figure name="Rate" value={isRunning && live.perSecond !== undefined ? `${formats.decimal(live.perSecond, 1)} a second` : "–"} />
        <Figure name="Time left" value={isRunning && progress.eta_seconds !== null ? formats.duration(progress.eta_seconds) : "–"} />
        <Figure name="Failed" value={formats.integer(progress.failed)} tone={progress.failed ? "bad" : ""} />
        <Figure name="Spent" value={`${formats.money(spend.cost)} credits`} {...(spend.unknown_calls ? { hint: `and ${spend.unknown_calls} calls of unknown cost` } : {})} />
      </dl>
    </section>
  );
}

function Figure({ name, value, tone = "", hint }: { name: string; value: string; tone?: string; hint?: string }) {
  return (
    <div className="figure">
      <dt>{name}</dt>
      <dd className={tone}>{value}</dd>
      {hint && <dd className="dim hint">{hint}</dd>}
    </div>
  );
}

/** Those that this run has. */
function phasesOf({ configuration }: Run): Kind[] {
  return PHASES.filter((phase) => {
    if (phase === "score") return Boolean(configuration.scoring);
    if (phase === "compare") return Boolean(configuration.comparison);
    if (phase === "combine") return Boolean(configuration.combination);
    return true;
  });
}
