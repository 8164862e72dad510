import { useInfiniteQuery } from "@tanstack/react-query";
import { SkipForward } from "lucide-react";
import { useRef } from "react";
import type { Run, Task } from "../../../api/types";
import { useApi, useFormats } from "../../../app/context";
import { IconButton } from "../../../components/Button";
import { Empty, ErrorNote, Skeleton } from "../../../components/Feedback";
import { Mark } from "../../../components/Mark";
import { VirtualList } from "../../../components/VirtualList";
import { labelsOf } from "../../../lib/candidates";
import { useNextPage } from "../../../lib/useNextPage";
import {
  hasEnded,
  PHASES,
  TASK_STATES,
  toneOfTask,
  wordsForKind,
  wordsForPhase,
  wordsForTask,
} from "../../../lib/states";
import { tasksQuery } from "../queries";
import type { Controls } from "../useControls";

const SKIPPABLE = new Set<Task["state"]>(["pending", "running", "failed"]);

interface Props {
  run: Run;
  controls: Controls;
  /** Search parameters of the address. */
  kind: string | undefined;
  state: string | undefined;
  onFilter: (filter: { kind?: string | undefined; state?: string | undefined }) => void;
}

export function TasksPanel({ run, controls, kind: wantedKind, state: wantedState, onFilter }: Props) {
  const list = useRef<HTMLDivElement>(null);
  const kind = PHASES.find((known) => known === wantedKind);
  const state = TASK_STATES.find((known) => known === wantedState);
  const query = useInfiniteQuery(tasksQuery(useApi(), run.id, { kind, state }, run.state === "running"));
  const next = useNextPage(query);
  const tasks = query.data?.pages.flatMap((page) => page.items);
  const labels = labelsOf(run.configuration);
  const skip = (task: Task) =>
    // The button disappears with that, and the focus with it.
    controls.skip.mutate(task.key, { onSuccess: () => list.current?.querySelector<HTMLElement>(".virtual")?.focus() });
  return (
    <div className="stack">
      <div className="row">
        <select
          className="input narrow"
          aria-label="Phase"
          value={kind ?? ""}
          onChange={(event) => onFilter({ kind: event.target.value || undefined })}
        >
          <option value="">All phases</option>
          {PHASES.map((known) => (
            <option key={known} value={known}>
              {wordsForPhase(known)}
            </option>
          ))}
        </select>
        <select
          className="input narrow"
          aria-label="State"
          value={state ?? ""}
          onChange={(event) => onFilter({ state: event.target.value || undefined })}
        >
          <option value="">All states</option>
          {TASK_STATES.map((known) => (
            <option key={known} value={known}>
              {wordsForTask(known)}
            </option>
          ))}
        </select>
        {tasks && <Count shown={tasks.length} isAll={!query.hasNextPage} />}
      </div>
      {query.isError && !tasks && <ErrorNote error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <Skeleton />}
      {tasks?.length === 0 && (
        <Empty title="No task fits">
          {kind || state ? "Choose another phase or state." : "They are planned when the run starts."}
        </Empty>
      )}
      {tasks && tasks.length > 0 && (
        <div className="card flush" ref={list}>
          <VirtualList
            items={tasks}
            label="Tasks"
            estimate={58}
            keyOf={(task) => task.key}
            onEnd={next}
            render={(task) => (
              <TaskLine
                task={task}
                numberOf={(label) => labels.indexOf(label)}
                canSkip={!hasEnded(run.state) && SKIPPABLE.has(task.state)}
                onSkip={() => skip(task)}
              />
            )}
          />
        </div>
      )}
    </div>
  );
}

function Count({ shown, isAll }: { shown: number; isAll: boolean }) {
  const formats = useFormats();
  return (
    <span className="dim small num">
      {isAll ? formats.counted(shown, "task") : `the first ${formats.integer(shown)}; more as you scroll`}
    </span>
  );
}

interface LineProps {
  task: Task;
  /** The number of a candidate, which its mark shows. */
  numberOf: (label: string) => number;
  canSkip: boolean;
  onSkip: () => void;
}

function TaskLine({ task, numberOf, canSkip, onSkip }: LineProps) {
  const formats = useFormats();
  const who = [task.candidate, task.opponent].filter(Boolean).join(" and ");
  const what = `${wordsForKind(task.kind).toLowerCase()}: ${[task.document_name, who].filter(Boolean).join(", ")}`;
  return (
    <div className="task-line">
      <span className={`chip ${toneOfTask(task.state)}`}>{wordsForTask(task.state)}</span>
      <div className="grow what">
        <div className="ellipsis" title={task.document_name}>
          {wordsForKind(task.kind)} · {task.document_name}
        </div>
        <div className="small dim ellipsis">
          {task.candidate && <Mark number={numberOf(task.candidate)} />} {task.candidate}
          {task.opponent && (
            <>
              {" against "}
              <Mark number={numberOf(task.opponent)} /> {task.opponent}
            </>
          )}
          {task.judge && ` · by ${task.judge}`}
          {task.order === "ba" && " · other way round"}
          {task.repeat > 1 && ` · repeat ${formats.integer(task.repeat)}`}
          {task.attempts > 1 && ` · ${formats.counted(task.attempts, "attempt")}`}
        </div>
        {task.error && (
          <div className="small bad">
            {task.error.message} <code>{task.error.code}</code>
            {task.error.said && <span className="small block">The provider says: {task.error.said}</span>}
          </div>
        )}
      </div>
      <span className="num small dim cost">
        {task.cost !== null && Number(task.cost) > 0 && formats.dollars(task.cost)}
      </span>
      {canSkip && (
        <IconButton small label={`Skip the ${what}`} icon={<SkipForward size={16} aria-hidden />} onPress={onSkip} />
      )}
    </div>
  );
}
