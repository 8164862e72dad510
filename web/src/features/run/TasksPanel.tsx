import { useInfiniteQuery } from "@tanstack/react-query";
import { SkipForward } from "lucide-react";
import { useState } from "react";
import type { Run, Task } from "../../api/types";
import { useApi, useFormats } from "../../app/context";
import { IconButton } from "../../components/Button";
import { Empty, ErrorNote, Skeleton } from "../../components/Feedback";
import { VirtualList } from "../../components/VirtualList";
import { hasEnded, PHASES, toneOfTask, wordsForPhase } from "../../lib/states";
import { type TaskFilter, tasksQuery } from "./queries";
import type { Controls } from "./useControls";

const STATES: readonly Task["state"][] = ["pending", "running", "succeeded", "failed", "skipped", "cancelled"];
const SKIPPABLE = new Set<Task["state"]>(["pending", "running", "failed"]);

export function TasksPanel({ run, controls }: { run: Run; controls: Controls }) {
  const [filter, setFilter] = useState<TaskFilter>({});
  const query = useInfiniteQuery(tasksQuery(useApi(), run.id, filter, run.state === "running"));
  const tasks = query.data?.pages.flatMap((page) => page.items);
  return (
    <div className="stack">
      <div className="row">
        <select className="input narrow" aria-label="Phase" value={filter.kind ?? ""} onChange={(event) => setFilter({ ...filter, kind: PHASES.find((kind) => kind === event.target.value) })}>
          <option value="">All phases</option>
          {PHASES.map((kind) => (
            <option key={kind} value={kind}>
              {wordsForPhase(kind)}
            </option>
          ))}
        </select>
        <select className="input narrow" aria-label="State" value={filter.state ?? ""} onChange={(event) => setFilter({ ...filter, state: STATES.find((state) => state === event.target.value) })}>
          <option value="">All states</option>
          {STATES.map((state) => (
            <option key={state}>{state}</option>
          ))}
        </select>
        {tasks && <span className="dim small num">{query.hasNextPage ? `the first ${tasks.length}` : `${tasks.length} tasks`}</span>}
      </div>
      {query.isError && !tasks && <ErrorNote error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <Skeleton />}
      {tasks?.length === 0 && <Empty title="No task fits" />}
      {tasks && tasks.length > 0 && (
        <div className="card flush">
          <VirtualList
            items={tasks}
            label="Tasks"
            estimate={42}
            keyOf={(task) => task.key}
            onEnd={() => query.hasNextPage && !query.isFetchingNextPage && void query.fetchNextPage()}
            render={(task) => <TaskLine task={task} canSkip={!hasEnded(run.state) && SKIPPABLE.has(task.state)} onSkip={() => controls.skip.mutate(task.key)} />}
          />
        </div>
      )}
    </div>
  );
}

function TaskLine({ task, canSkip, onSkip }: { task: Task; canSkip: boolean; onSkip: () => void }) {
  const formats = useFormats();
  return (
    <div className="task-line">
      <span className={`chip ${toneOfTask(task.state)}`}>{task.state}</span>
      <div className="grow">
        <div className="ellipsis">
          {task.kind} · {task.document_name}
        </div>
        <div className="small dim ellipsis">
          {task.candidate}
          {task.opponent && ` against ${task.opponent}`}
          {task.judge && ` · ${task.judge}`}
          {task.order === "ba" && " · other way round"}
          {task.repeat > 1 && ` · repeat ${task.repeat}`}
        </div>
        {task.error && (
          <div className="small bad">
            <code>{task.error.code}</code> {task.error.message}
          </div>
        )}
      </div>
      <code className="small dim ellipsis" title={task.key}>
        {task.key}
      </code>
      <span className="num small dim">{task.cost === null ? "" : formats.money(task.cost)}</span>
      <span>{canSkip && <IconButton small label={`Skip ${task.key}`} icon={<SkipForward size={16} aria-hidden />} onPress={onSkip} />}</span>
    </div>
  );
}
