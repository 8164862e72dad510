import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState, useSyncExternalStore } from "react";
import type { ServerEvent } from "carrel-sdk";
import { follow } from "../../api/events";
import { queryKeys } from "../../api/queryKeys";
import type { Entry, Run, RunSummary } from "../../api/types";
import { useApi } from "../../app/context";
import { type LiveView, LiveRun } from "./liveRun";

const SUMMARIES = new Set(["progress", "end"]);
const NO_ENTRIES = new Set([...SUMMARIES, "text"]);

/** Follow a run as long as the page shows it; its state in the cache is kept up to date on the way. */
export function useLiveRun(runId: string, isOver: boolean): LiveView {
  const api = useApi();
  const queries = useQueryClient();
  const [live] = useState(() => new LiveRun());

  useEffect(() => {
    if (isOver) return;
    const stop = new AbortController();
    const onEvents = (events: ServerEvent[]) => {
      const summaries = events
        .filter(({ event }) => SUMMARIES.has(event))
        .map(({ data }) => JSON.parse(data) as RunSummary);
      const entries = events.filter(({ event }) => !NO_ENTRIES.has(event)).map(({ data }) => JSON.parse(data) as Entry);
      const summary = summaries.at(-1);
      live.hear(events, Date.now());
      if (entries.length || summary) live.add(entries, summary, Date.now());
      if (summary) queries.setQueryData<Run>(queryKeys.run.one(runId), (run) => run && { ...run, ...summary });
      // While a run works, the report is fetched now and then; a run that stops leaves its last one too old.
      if (summary && summary.state !== "running")
        void queries.invalidateQueries({ queryKey: queryKeys.run.reports(runId) });
      if (events.some(({ event }) => event === "end")) {
        void queries.invalidateQueries({ queryKey: queryKeys.run.one(runId) });
        void queries.invalidateQueries({ queryKey: queryKeys.runs.all });
      }
    };
    const last = live.current().entries.at(-1)?.seq ?? 0;
    void follow(api, runId, last, { onEvents, onLive: (isLive) => live.setLive(isLive) }, stop.signal);
    return () => {
      stop.abort();
      live.setLive(false);
      // The end may be read before it is heard, beside a report that was read before it.
      void queries.invalidateQueries({ queryKey: queryKeys.run.one(runId) });
    };
  }, [api, queries, live, runId, isOver]);

  return useSyncExternalStore(live.subscribe, live.current);
}
