/** Lists of runs, and what is done with many at once. */
import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { data } from "carrel-sdk";
import type { Api } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";
import type { RunState } from "../../api/types";
import { useApi } from "../../app/context";
import { toast } from "../../components/Toasts";

const LIVE_MS = 2000;
const IDLE_MS = 20_000;
const PAGE = 100;

export function runsQuery(api: Api, state: RunState | undefined) {
  return infiniteQueryOptions({
    queryKey: queryKeys.runs.list(state),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      data(
        api.client.GET("/api/runs", {
          params: { query: { limit: PAGE, ...(pageParam ? { cursor: pageParam } : {}), ...(state ? { state } : {}) } },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    refetchInterval: (query) => {
      const runs = query.state.data?.pages.flatMap((page) => page.items) ?? [];
      return runs.some((run) => run.state === "running") ? LIVE_MS : IDLE_MS;
    },
  });
}

export function runCountQuery(api: Api) {
  return queryOptions({
    queryKey: queryKeys.runs.count,
    queryFn: ({ signal }) => data(api.client.GET("/api/runs/count", { signal })),
  });
}

/** Delete runs; those that are running are refused and stay. */
export function useDeleteRuns(onDone: () => void) {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (ids: string[]) => data(api.client.DELETE("/api/runs/bulk", { body: { ids } })),
    onSuccess: ({ deleted, refused }) => {
      const [gone, left] = [deleted.length, refused.length];
      const rest = left
        ? `${left} ${left === 1 ? "is" : "are"} under way and stayed: pause or cancel ${left === 1 ? "it" : "them"} first.`
        : "";
      if (gone) toast.done([`${gone} ${gone === 1 ? "run" : "runs"} deleted.`, rest].filter(Boolean).join(" "));
      else toast.failed(new Error(`Nothing was deleted. ${rest}`));
      onDone();
    },
    onError: toast.failed,
    onSettled: () => queries.invalidateQueries({ queryKey: queryKeys.runs.all }),
  });
}
