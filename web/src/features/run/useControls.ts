import { useMutation, useQueryClient } from "@tanstack/react-query";
import { data } from "carrel-sdk";
import { queryKeys } from "../../api/queryKeys";
import type { Judge, Run, RunChange } from "../../api/types";
import { useApi } from "../../app/context";
import { toast } from "../../components/Toasts";
import { wordsForPause } from "../../lib/states";

/** So soon a run that cannot go on has paused again. */
const RESUMED_MS = 1500;

export interface Reevaluation {
  judges?: Judge[];
  criteria?: string;
  instructions?: string;
}

/** The controls of a run. Each answers with the new state of the run, so the page need not ask for it. */
export function useControls(runId: string) {
  const api = useApi();
  const queries = useQueryClient();
  const where = { params: { path: { run_id: runId } } };
  const keep = (run: Run) => {
    queries.setQueryData(queryKeys.run.one(runId), run);
    void queries.invalidateQueries({ queryKey: queryKeys.runs.all });
  };
  const options = { onSuccess: keep, onError: toast.failed };
  return {
    start: useMutation({
      mutationFn: () =>
        data(
          api.client.POST("/api/runs/{run_id}/start", {
            params: { ...where.params, header: { "Idempotency-Key": crypto.randomUUID() } },
          }),
        ),
      ...options,
    }),
    pause: useMutation({ mutationFn: () => data(api.client.POST("/api/runs/{run_id}/pause", where)), ...options }),
    resume: useMutation({
      mutationFn: () => data(api.client.POST("/api/runs/{run_id}/resume", where)),
      ...options,
      onSuccess: (run: Run) => {
        keep(run);
        setTimeout(() => {
          const now = queries.getQueryData<Run>(queryKeys.run.one(runId));
          // What holds it may hold still, and then the page looks as it did before.
          if (now?.state === "paused" && now.pause_reason)
            toast.failed(new Error(`It has paused again. ${wordsForPause(now.pause_reason)}`));
        }, RESUMED_MS);
      },
    }),
    cancel: useMutation({ mutationFn: () => data(api.client.POST("/api/runs/{run_id}/cancel", where)), ...options }),
    retry: useMutation({ mutationFn: () => data(api.client.POST("/api/runs/{run_id}/retry", where)), ...options }),
    reevaluate: useMutation({
      mutationFn: (body: Reevaluation) => data(api.client.POST("/api/runs/{run_id}/reevaluate", { ...where, body })),
      onSuccess: (run: Run) => {
        keep(run);
        void queries.invalidateQueries({ queryKey: queryKeys.run.one(runId) });
        toast.done("A new round has begun; the earlier ones stay readable.");
      },
    }),
    skip: useMutation({
      mutationFn: (taskKey: string) =>
        data(
          api.client.POST("/api/runs/{run_id}/tasks/{task_key}/skip", {
            params: { path: { run_id: runId, task_key: taskKey } },
          }),
        ),
      onSuccess: () => {
        toast.done("Skipped. The verdict leaves it out.");
        void queries.invalidateQueries({ queryKey: queryKeys.run.one(runId) });
      },
      onError: toast.failed,
    }),
    label: useMutation({
      mutationFn: (body: RunChange) => data(api.client.PUT("/api/runs/{run_id}", { ...where, body })),
      onSuccess: keep,
    }),
    remove: useMutation({
      mutationFn: () => data(api.client.DELETE("/api/runs/{run_id}", where)),
      onSuccess: () => void queries.invalidateQueries({ queryKey: queryKeys.runs.all }),
      onError: toast.failed,
    }),
    shareLogs: useMutation({
      mutationFn: () => data(api.client.POST("/api/runs/{run_id}/share-logs", where)),
      onError: toast.failed,
    }),
  };
}

export type Controls = ReturnType<typeof useControls>;
