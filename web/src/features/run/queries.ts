/** The queries of the run page. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { data } from "carrel-sdk";
import type { Api } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";
import type { Entry, Kind, Report, Task } from "../../api/types";
import { hasEnded } from "../../lib/states";

const PAGE = 200;
const LIVE_REPORT_MS = 8000;
const SLOW_MS = 15_000;

export function runQuery(api: Api, runId: string) {
  return queryOptions({
    queryKey: queryKeys.run.one(runId),
    queryFn: ({ signal }) =>
      data(api.client.GET("/api/runs/{run_id}", { params: { path: { run_id: runId } }, signal })),
    // Events bring most changes; this fetches what they do not carry.
    refetchInterval: (query) => (query.state.data && hasEnded(query.state.data.state) ? false : SLOW_MS),
  });
}

/**
 * The report as data, of an earlier `round` or of the present one, without its documents: so it is never large. It is
 * fetched now and then as long as its runs are under way, or were when it was made: they are read at other moments.
 */
export function reportQuery(api: Api, runId: string, against: string | undefined, isLive: boolean, round?: number) {
  return queryOptions({
    queryKey: queryKeys.run.report(runId, against, round),
    queryFn: ({ signal }) =>
      data(
        api.client.GET("/api/runs/{run_id}/report", {
          params: {
            path: { run_id: runId },
            query: {
              format: "json",
              documents: false,
              ...(against ? { against } : {}),
              ...(round ? { round } : {}),
            },
          },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data: report } }) =>
      isLive || report?.state === "running" || report?.against?.finished === false ? LIVE_REPORT_MS : false,
  });
}

/** The round of a report if it is an earlier one. */
export function earlierRound(report: Report): number | undefined {
  return report.round < report.rounds ? report.round : undefined;
}

/** One document with its texts, answers and verdicts. */
export function documentQuery(api: Api, runId: string, number: number, isLive: boolean, round?: number) {
  return queryOptions({
    queryKey: queryKeys.run.document(runId, number, round),
    queryFn: ({ signal }) =>
      data(
        api.client.GET("/api/runs/{run_id}/answers/{document}", {
          params: { path: { run_id: runId, document: number }, query: round ? { round } : {} },
          signal,
        }),
      ),
    // Who turns to the next document keeps the place on the page.
    placeholderData: keepPreviousData,
    refetchInterval: isLive ? LIVE_REPORT_MS : false,
  });
}

/** The names of some documents, by their numbers. */
export function namesQuery(api: Api, runId: string, documents: readonly number[]) {
  return queryOptions({
    queryKey: queryKeys.run.names(runId, documents),
    queryFn: ({ signal }) =>
      data(
        api.client.GET("/api/runs/{run_id}/answers/beginnings", {
          params: { path: { run_id: runId }, query: { documents: documents.join(","), answers: false } },
          signal,
        }),
      ),
    staleTime: Infinity,
  });
}

/** The figures of all answers, without their texts. */
export function figuresQuery(api: Api, runId: string, isLive: boolean, round?: number) {
  return queryOptions({
    queryKey: queryKeys.run.figures(runId, round),
    queryFn: ({ signal }) =>
      data(
        api.client.GET("/api/runs/{run_id}/answers", {
          params: { path: { run_id: runId }, query: round ? { round } : {} },
          signal,
        }),
      ),
    refetchInterval: isLive ? LIVE_REPORT_MS : false,
  });
}

/** The names of some documents, by their numbers, and how their answers begin. */
export function beginningsQuery(api: Api, runId: string, documents: readonly number[], isLive: boolean) {
  return queryOptions({
    queryKey: queryKeys.run.beginnings(runId, documents),
    queryFn: ({ signal }) =>
      data(
        api.client.GET("/api/runs/{run_id}/answers/beginnings", {
          params: { path: { run_id: runId }, query: { documents: documents.join(",") } },
          signal,
        }),
      ),
    refetchInterval: isLive ? LIVE_REPORT_MS : false,
  });
}

/** The numbers of the documents whose name or answers hold the words. */
export function foundQuery(api: Api, runId: string, words: string) {
  return queryOptions({
    queryKey: queryKeys.run.found(runId, words),
    queryFn: async ({ signal }) => {
      const params = { path: { run_id: runId }, query: { words } };
      return (await data(api.client.GET("/api/runs/{run_id}/answers/beginnings", { params, signal }))).found ?? [];
    },
    enabled: words !== "",
    placeholderData: keepPreviousData,
  });
}

/** The ranking as it would be with other weights; costs no calls. */
export function rankingQuery(api: Api, runId: string, weights: Record<string, number> | undefined, round?: number) {
  return queryOptions({
    queryKey: queryKeys.run.ranking(runId, weights, round),
    queryFn: ({ signal }) =>
      data(
        api.client.GET("/api/runs/{run_id}/ranking", {
          params: {
            path: { run_id: runId },
            query: { ...(weights ? { weights: JSON.stringify(weights) } : {}), ...(round ? { round } : {}) },
          },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });
}

/** The results by the values of a column; without one, only which columns there are. */
export function splitQuery(api: Api, runId: string, column: string | undefined, round?: number) {
  return queryOptions({
    queryKey: queryKeys.run.split(runId, column, round),
    queryFn: ({ signal }) =>
      data(
        api.client.GET("/api/runs/{run_id}/split", {
          params: { path: { run_id: runId }, query: { ...(column ? { column } : {}), ...(round ? { round } : {}) } },
          signal,
        }),
      ),
  });
}

export interface GateQuestion {
  baseline: string;
  candidate: string;
  /** How much worse is too much, as a share. */
  margin: number;
}

/** Whether a candidate is worse than its baseline. */
export function gateQuery(api: Api, runId: string, question: GateQuestion, round?: number) {
  return queryOptions({
    queryKey: queryKeys.run.gate(runId, { ...question }, round),
    queryFn: ({ signal }) =>
      data(
        api.client.GET("/api/runs/{run_id}/gate", {
          params: { path: { run_id: runId }, query: { ...question, ...(round ? { round } : {}) } },
          signal,
        }),
      ),
  });
}

export interface TaskFilter {
  kind?: Kind | undefined;
  state?: Task["state"] | undefined;
}

export function tasksQuery(api: Api, runId: string, filter: TaskFilter, isLive: boolean) {
  return infiniteQueryOptions({
    queryKey: queryKeys.run.tasks(runId, filter),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      data(
        api.client.GET("/api/runs/{run_id}/tasks", {
          params: {
            path: { run_id: runId },
            query: { limit: PAGE, ...filter, ...(pageParam ? { cursor: pageParam } : {}) },
          },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    refetchInterval: isLive ? SLOW_MS : false,
  });
}

export function logsQuery(api: Api, runId: string, level: Entry["level"] | undefined) {
  return infiniteQueryOptions({
    queryKey: queryKeys.run.logs(runId, level),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      data(
        api.client.GET("/api/runs/{run_id}/logs", {
          params: {
            path: { run_id: runId },
            query: { limit: PAGE, ...(level ? { level } : {}), ...(pageParam ? { cursor: pageParam } : {}) },
          },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

export function otherRunsQuery(api: Api) {
  return queryOptions({
    queryKey: queryKeys.runs.latest,
    queryFn: ({ signal }) => data(api.client.GET("/api/runs", { params: { query: { limit: 100 } }, signal })),
  });
}
