/** What the buttons of a comparison do: take the sample, save, and start. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { data } from "carrel-sdk";
import { queryKeys } from "../../../api/queryKeys";
import type { Api } from "../../../api/client";
import type { DefaultJudges, PresetIn, Run } from "../../../api/types";
import { useApi } from "../../../app/context";
import { SAMPLE_TAG, sampleDocuments } from "./sample";
import { useSavePreset } from "../queries";
import { needsTask, presetOf, type Setup } from "./setup";
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

/** The setup with its prompts in the library. */
async function withPrompts(api: Api, setup: Setup): Promise<Setup> {
  if (!needsTask(setup)) return setup;
  return { ...setup, prompts: await Promise.all(setup.prompts.map((prompt) => keepPrompt(api, prompt))) };
}

interface Wanted {
  setup: Setup;
  judges: DefaultJudges | undefined;
}

/** Keep the prompts, save the preset, and run it. What was done before a failure is not done again. */
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
    return save(presetOf(await withPrompts(api, setup), judges));
  };
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
  return compare;
}

/** Keep the prompts, and save a new preset, or this version of one. */
export function useSaves(presetId: string | undefined, etag: string | undefined) {
  const api = useApi();
  const { mutateAsync } = useSavePreset(presetId, etag);
  return useMutation({
    mutationFn: async ({ setup, judges }: Wanted) => mutateAsync(presetOf(await withPrompts(api, setup), judges)),
  });
}
