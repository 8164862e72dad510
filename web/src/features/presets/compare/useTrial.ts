/** Trying the candidates on one document or row: it starts a run that is a trial, and follows it. */
import { useMutation, useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { data, type ServerEvent } from "carrel-sdk";
import { follow } from "../../../api/events";
import { answersQuery, generatedQuery, trialQuery } from "../../../api/queries";
import { queryKeys } from "../../../api/queryKeys";
import type { Run } from "../../../api/types";
import { useApi } from "../../../app/context";
import { noPlaces, withEvents } from "../../../lib/liveAnswers";
import { hasEnded } from "../../../lib/states";
import { configurationOf } from "../useRehearsal";
import { presetOf, triedPart, type Setup, type TriedInput } from "./setup";
import { keepPrompt } from "./usePrompts";

const MOST_CANDIDATES = 20;

/** A trial starts without its reader if that cannot listen for so long. */
const LISTENS_WITHIN_MS = 3000;

/** Keep the prompts, and make a trial on one input; the result is the run and the prompts with their ids. */
export function useTry() {
  const api = useApi();
  return useMutation({
    mutationFn: async ({ setup, on }: { setup: Setup; on: TriedInput }) => {
      const prompts = await Promise.all(setup.prompts.map((prompt) => keepPrompt(api, prompt)));
      const preset = triedPart(presetOf({ ...setup, prompts }, undefined));
      const header = { "Idempotency-Key": crypto.randomUUID() };
      const input = typeof on === "string" ? { inputs: [on] } : { rows: on };
      const body = { name: preset.name, configuration: configurationOf(preset), ...input, trial: true };
      const { id } = (await data(api.client.POST("/api/runs", { params: { header }, body }))) as Run;
      return { run: id, prompts };
    },
  });
}

/** A trial with the tasks that make its answers, and the answers that are there or are being written, by the keys of their tasks. */
export function useTrial(runId: string) {
  const api = useApi();
  const queries = useQueryClient();
  const run = useQuery(trialQuery(api, runId));
  const tasks = useQuery(answersQuery(api, runId));
  const made = (tasks.data ?? []).flatMap((task) => (task.generated_id ? [task.generated_id] : []));
  const answers = useQueries({ queries: made.map((id) => generatedQuery(api, runId, id)) });
  const [places, setPlaces] = useState(() => noPlaces(MOST_CANDIDATES));
  const start = useMutation({
    mutationFn: () => data(api.client.POST("/api/runs/{run_id}/start", { params: { path: { run_id: runId } } })),
    onSettled: () => queries.invalidateQueries({ queryKey: queryKeys.run.one(runId) }),
  });
  const [isListening, setListening] = useState(false);
  const isPending = run.data?.state === "pending" && start.isIdle;
  // It starts when somebody listens, because who comes later misses what is said first.
  const { mutate } = start;
  useEffect(() => {
    if (!isPending) return;
    const timer = setTimeout(mutate, isListening ? 0 : LISTENS_WITHIN_MS);
    return () => clearTimeout(timer);
  }, [isPending, isListening, mutate]);
  const isOver = run.data !== undefined && hasEnded(run.data.state);
  useEffect(() => {
    if (isOver) return;
    const stop = new AbortController();
    const onEvents = (events: ServerEvent[]) => {
      setPlaces((before) => withEvents(before, events, Date.now()));
      // Parts of answers change nothing that the service keeps.
      if (events.some(({ event }) => event !== "text"))
        void queries.invalidateQueries({ queryKey: queryKeys.run.one(runId) });
    };
    void follow(api, runId, 0, { onEvents, onLive: setListening }, stop.signal);
    return () => {
      stop.abort();
      // The end may be read before it is heard, beside tasks that were read before it.
      void queries.invalidateQueries({ queryKey: queryKeys.run.one(runId) });
    };
  }, [api, queries, runId, isOver]);
  return {
    run: run.data,
    error: run.error ?? start.error,
    tasks: tasks.data ?? [],
    written: new Map(places.flatMap((one) => (one ? [[one.key, one]] : []))),
    answers: new Map(answers.flatMap(({ data: answer }) => (answer ? [[answer.task_key, answer]] : []))),
  };
}
