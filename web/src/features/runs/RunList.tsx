import { Link } from "@tanstack/react-router";
import type { RunSummary } from "../../api/types";
import { useFormats } from "../../app/context";
import { Labels } from "../../components/Labels";
import { ProgressBar } from "../../components/ProgressBar";
import { RunState } from "../../components/RunState";
import { VirtualList } from "../../components/VirtualList";
import type { Formats } from "../../lib/format";
import { spentExactly, spentInBrief } from "../../lib/spend";
import { useNow } from "../../lib/useNow";
import { hasEnded, wordsForPause, wordsForPhase } from "../../lib/states";

interface Props {
  runs: readonly RunSummary[];
  chosen: ReadonlySet<string>;
  onChoose: (chosen: ReadonlySet<string>) => void;
  onEnd: () => void;
}

const ROW_PX = 92;

export function RunList({ runs, chosen, onChoose, onEnd }: Props) {
  const all = runs.every((run) => chosen.has(run.id));
  const now = useNow(30_000);
  const toggle = (id: string) => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    onChoose(next);
  };
  const markMixed = (box: HTMLInputElement | null) => {
    if (box) box.indeterminate = !all && runs.some((run) => chosen.has(run.id));
  };
  return (
    <div className="card flush">
      <label className="check list-head small dim">
        <input
          type="checkbox"
          checked={all}
          ref={markMixed}
          onChange={() => onChoose(all ? new Set() : new Set(runs.map((run) => run.id)))}
        />
        Choose all that are shown
      </label>
      <VirtualList
        items={runs}
        label="Runs"
        estimate={ROW_PX}
        keyOf={(run) => run.id}
        onEnd={onEnd}
        render={(run) => <RunRow run={run} now={now} isChosen={chosen.has(run.id)} onToggle={() => toggle(run.id)} />}
      />
    </div>
  );
}

function RunRow({
  run,
  now,
  isChosen,
  onToggle,
}: {
  run: RunSummary;
  now: number;
  isChosen: boolean;
  onToggle: () => void;
}) {
  const formats = useFormats();
  const { progress } = run;
  return (
    <div className="list-row run-row">
      <input
        type="checkbox"
        aria-label={`Choose ${run.name}, ${formats.dateTime(run.created_at)}`}
        checked={isChosen}
        onChange={onToggle}
      />
      <div className="grow">
        <div className="row">
          <Link to="/runs/$runId" params={{ runId: run.id }} className="title ellipsis">
            {run.name}
          </Link>
          <RunState state={run.state} />
          <Labels tags={run.tags} pinned={run.pinned} />
        </div>
        <p className="dim small clamp">{sentence(run)}</p>
        {!hasEnded(run.state) && run.state !== "pending" && (
          <ProgressBar progress={progress} label={`Progress of ${run.name}`} />
        )}
      </div>
      <dl className="run-facts small">
        <div>
          <dt className="visually-hidden">Made</dt>
          <dd title={formats.dateTime(run.created_at)}>{formats.ago(run.created_at, now)}</dd>
        </div>
        <div>
          <dt className="visually-hidden">Tasks</dt>
          <dd className="dim num">
            {hasEnded(run.state) ? "" : `${formats.integer(progress.total - progress.pending - progress.running)} of `}
            {formats.integer(progress.total)} {progress.total === 1 ? "task" : "tasks"}
            {progress.failed > 0 && <span className="bad block">{formats.integer(progress.failed)} failed</span>}
          </dd>
        </div>
        <div>
          <dt className="visually-hidden">Cost</dt>
          <dd className="dim num" title={spentExactly(run.spend, formats)}>
            {costInBrief(run, formats)}
          </dd>
        </div>
      </dl>
    </div>
  );
}

/** The heading of the figure is not seen, so a cost that nobody knows says that it is one. */
function costInBrief({ spend }: RunSummary, formats: Formats): string {
  const brief = spentInBrief(spend, formats);
  return brief === "unknown" ? "cost unknown" : brief;
}

function sentence(run: RunSummary): string {
  if (run.verdict) return run.verdict;
  if (run.state === "paused" && run.pause_reason) return wordsForPause(run.pause_reason);
  if (run.state === "running" && run.phase) return `${wordsForPhase(run.phase)} are being made.`;
  if (run.state === "pending") return "Ready to be started.";
  return "There is no verdict.";
}
