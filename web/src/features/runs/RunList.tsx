import { Link } from "@tanstack/react-router";
import type { RunSummary } from "../../api/types";
import { useFormats } from "../../app/context";
import { Labels } from "../../components/Labels";
import { ProgressBar } from "../../components/ProgressBar";
import { RunState } from "../../components/RunState";
import { ChosenName } from "../../components/table/ChosenName";
import type { Column } from "../../components/table/column";
import { DataTable } from "../../components/table/DataTable";
import type { Formats } from "../../lib/format";
import { knownCost, spentExactly, spentInBrief } from "../../lib/spend";
import type { TableView } from "../../lib/tableView";
import { useNow } from "../../lib/useNow";
import { hasEnded, wordsForPause, wordsForPhase } from "../../lib/states";

interface Props {
  runs: readonly RunSummary[];
  chosen: ReadonlySet<string>;
  onChoose: (chosen: ReadonlySet<string>) => void;
  view: TableView;
  onView: (view: TableView) => void;
  onEnd: () => void;
}

export function RunList({ runs, chosen, onChoose, view, onView, onEnd }: Props) {
  const formats = useFormats();
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
    <div className="stack tight">
      <label className="check small dim">
        <input
          type="checkbox"
          checked={all}
          ref={markMixed}
          onChange={() => onChoose(all ? new Set() : new Set(runs.map((run) => run.id)))}
        />
        Choose all that are shown
      </label>
      <DataTable
        label="Runs"
        className="wide-name"
        unsorted="The newest first"
        rows={runs}
        keyOf={(run) => run.id}
        columns={columnsOf(now, formats, chosen, toggle)}
        view={view}
        onView={onView}
        onEnd={onEnd}
      />
    </div>
  );
}

function columnsOf(
  now: number,
  formats: Formats,
  chosen: ReadonlySet<string>,
  onToggle: (id: string) => void,
): [Column<RunSummary>, ...Column<RunSummary>[]] {
  return [
    {
      id: "name",
      label: "Comparison",
      isText: true,
      value: ({ name }) => name,
      cell: (run) => <Name run={run} isChosen={chosen.has(run.id)} onToggle={() => onToggle(run.id)} />,
    },
    {
      id: "made",
      label: "Made",
      isBestHigh: true,
      value: ({ created_at }) => created_at,
      cell: ({ created_at }) => <span title={formats.dateTime(created_at)}>{formats.ago(created_at, now)}</span>,
    },
    {
      id: "tasks",
      label: "Tasks",
      isBestHigh: true,
      value: ({ progress }) => progress.total,
      cell: (run) => <Tasks run={run} />,
    },
    {
      id: "failed",
      label: "Failed",
      isBestHigh: true,
      isExtra: true,
      value: ({ progress }) => progress.failed,
      cell: ({ progress }) => formats.integer(progress.failed),
    },
    {
      id: "cost",
      label: "Cost",
      isBestHigh: true,
      value: ({ spend }) => knownCost(spend),
      cell: ({ spend, state }) => (
        <span title={spentExactly(spend, formats)}>{spentInBrief(spend, formats, hasEnded(state))}</span>
      ),
    },
  ];
}

function Name({ run, isChosen, onToggle }: { run: RunSummary; isChosen: boolean; onToggle: () => void }) {
  const formats = useFormats();
  return (
    <ChosenName
      label={`Choose ${run.name}, ${formats.dateTime(run.created_at)}`}
      isChosen={isChosen}
      onToggle={onToggle}
    >
      <div className="row tight">
        <Link to="/runs/$runId" params={{ runId: run.id }} className="title">
          {run.name}
        </Link>
        {run.state !== "completed" && <RunState state={run.state} />}
        <Labels tags={run.tags} pinned={run.pinned} />
      </div>
      <Outcome sentence={sentence(run)} isFound={run.verdict !== null} />
      {!hasEnded(run.state) && run.state !== "pending" && (
        <ProgressBar progress={run.progress} label={`Progress of ${run.name}`} />
      )}
    </ChosenName>
  );
}

/** What was found, at a glance: what to do stands out from why. */
function Outcome({ sentence, isFound }: { sentence: string; isFound: boolean }) {
  const [, first = sentence, rest = ""] = (isFound && /^(.*?[:;.!?])(\s.*)$/s.exec(sentence)) || [];
  return (
    <p className="dim small clamp">
      {isFound ? <strong className="ink">{first}</strong> : first}
      {rest}
    </p>
  );
}

function Tasks({ run: { state, progress } }: { run: RunSummary }) {
  const formats = useFormats();
  return (
    <>
      {hasEnded(state) ? "" : `${formats.integer(progress.total - progress.pending - progress.running)} of `}
      {formats.integer(progress.total)}
      {progress.failed > 0 && <span className="bad small block">{formats.integer(progress.failed)} failed</span>}
    </>
  );
}

function sentence(run: RunSummary): string {
  // What it is about stands on its page; every line of the list would say it again.
  if (run.verdict) return run.verdict.replace(/ This is about documents like these[^.]*\./, "");
  if (run.state === "paused" && run.pause_reason) return wordsForPause(run.pause_reason);
  if (run.state === "running" && run.phase) return `${wordsForPhase(run.phase)} are under way.`;
  if (run.state === "pending") return "Ready to be started.";
  return "There is no verdict.";
}
