/** What the buttons of a new comparison do: take the sample, save, and start. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { data } from "carrel-sdk";
import { queryKeys } from "../../../api/queryKeys";
import type { DefaultJudges, PresetIn, Run } from "../../../api/types";
import { useApi } from "../../../app/context";
import { SAMPLE_TAG, sampleDocuments } from "./sample";
import { presetOf, type Setup } from "./setup";
import { keepPrompt } from "./usePrompts";

/** The ids of the sample's documents, which are made once and found again later. */
export function useSample() {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async () => {
      const query = { type: "input_document" as const, tag: SAMPLE_TAG, limit: 200 };
      const known = await data(api.client.GET("/api/contents", { params: { query } }));
      const wanted = sampleDocuments();
      const found = new Map(known.items.map((content) => [content.name, content.id]));
      const ids = [];
      for (const { name, body } of wanted) {
        const text = { name, body, type: "input_document" as const, tags: [SAMPLE_TAG] };
        ids.push(found.get(name) ?? (await data(api.client.POST("/api/contents", { body: text }))).id);
      }
      return ids;
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: queryKeys.contents.all }),
  });
}

interface Wanted {
  setup: Setup;
  judges: DefaultJudges | undefined;
}

/** Keep the prompts, save the preset, and perhaps run it. What was done before a failure is not done again. */
export function useCompare() {
  const api = useApi();
  const queries = useQueryClient();
  const saved = useRef<{ draft: string; id: string; key: string }>(undefined);
  const save = async (preset: PresetIn) => {
    const draft = JSON.stringify(preset);
    if (saved.current?.draft !== draft) {
      const { id } = await data(api.client.POST("/api/presets", { body: preset }));
      saved.current = { draft, id, key: crypto.randomUUID() };
    }
    return saved.current;
  };
  const keep = async ({ setup, judges }: Wanted) => {
    // Finished answers need no task.
    const prompts = setup.models.length
      ? await Promise.all(setup.prompts.map((prompt) => keepPrompt(api, prompt)))
      : setup.prompts;
    return save(presetOf({ ...setup, prompts }, judges));
  };
  const saves = useMutation({
    mutationFn: keep,
    onSuccess: () => queries.invalidateQueries({ queryKey: queryKeys.presets }),
  });
  const compare = useMutation({
    mutationFn: async (wanted: Wanted) => {
      const { id, key } = await keep(wanted);
      return (await data(
        api.client.POST("/api/presets/{preset_id}/execute", {
          params: { path: { preset_id: id }, header: { "Idempotency-Key": key } },
          // The answers of a trial are paid.
          body: wanted.setup.trial ? { reuse: true } : {},
        }),
      )) as Run;
    },
    onSuccess: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: queryKeys.runs.all }),
        queries.invalidateQueries({ queryKey: queryKeys.presets }),
      ]),
  });
  return { compare, saves };
}
