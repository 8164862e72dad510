import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { data, ifMatch, tagged } from "carrel-sdk";
import type { Api } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";
import type { ContentIn, DryRun, PresetIn, Run } from "../../api/types";
import { useApi } from "../../app/context";
import { toast } from "../../components/Toasts";
import { download } from "../../lib/download";
import { variablesFor } from "../../lib/placeholders";

export function presetsQuery(api: Api) {
  return infiniteQueryOptions({
    queryKey: queryKeys.presets,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      data(
        api.client.GET("/api/presets", {
          params: { query: { limit: 100, ...(pageParam ? { cursor: pageParam } : {}) } },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

export function presetQuery(api: Api, presetId: string) {
  return queryOptions({
    queryKey: queryKeys.preset.one(presetId),
    queryFn: ({ signal }) =>
      tagged(api.client.GET("/api/presets/{preset_id}", { params: { path: { preset_id: presetId } }, signal })),
    // An open editor must not be changed under the user's hands.
    refetchOnWindowFocus: false,
  });
}

/** What a run of the saved preset would take and could decide, with these texts for the variables that are open. */
export function dryRunQuery(api: Api, presetId: string, version: number, variables: Record<string, string>) {
  return queryOptions({
    queryKey: queryKeys.preset.dryRun(presetId, version, variables),
    queryFn: ({ signal }) =>
      data(
        api.client.POST("/api/presets/{preset_id}/execute", {
          params: {
            path: { preset_id: presetId },
            query: { dry_run: true },
            header: { "Idempotency-Key": crypto.randomUUID() },
          },
          body: Object.keys(variables).length ? { variables } : {},
          signal,
        }),
      ) as Promise<DryRun>,
    retry: false,
  });
}

export function useSavePreset(presetId: string | undefined, etag: string | undefined) {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (draft: PresetIn) =>
      presetId
        ? tagged(
            api.client.PUT("/api/presets/{preset_id}", {
              params: { path: { preset_id: presetId }, header: ifMatch(etag) },
              body: draft,
            }),
          )
        : tagged(api.client.POST("/api/presets", { body: draft })),
    onSuccess: (saved) => {
      queries.setQueryData(queryKeys.preset.one(saved.value.id), saved);
      void queries.invalidateQueries({ queryKey: queryKeys.presets });
      toast.done("Saved.");
    },
  });
}

export function useDuplicatePreset() {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (presetId: string) =>
      data(api.client.POST("/api/presets/{preset_id}/duplicate", { params: { path: { preset_id: presetId } } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: queryKeys.presets }),
    onError: toast.failed,
  });
}

/** Save a preset as a configuration of promptfoo; what promptfoo has no word for is told. */
export function useExportSuite() {
  const api = useApi();
  return useMutation({
    mutationFn: (presetId: string) =>
      data(api.client.GET("/api/presets/{preset_id}/suite", { params: { path: { preset_id: presetId } } })),
    onSuccess: ({ config, dropped }) => {
      download("promptfooconfig.yaml", new Blob([config], { type: "application/yaml" }));
      if (dropped.length > 0) toast.done(`Left out: ${dropped.map(({ kind }) => kind).join(", ")}.`);
    },
    onError: toast.failed,
  });
}

export function useDeletePreset() {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (presetId: string) =>
      data(api.client.DELETE("/api/presets/{preset_id}", { params: { path: { preset_id: presetId } } })),
    onSuccess: () => {
      toast.done("Deleted. Runs that were made from it stay.");
      return queries.invalidateQueries({ queryKey: queryKeys.presets });
    },
    onError: toast.failed,
  });
}

/** Create a text that a preset lacks. The mutation ends when the list to choose from has it, too. */
export function useWriteText() {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (text: ContentIn) =>
      data(api.client.POST("/api/contents", { body: { ...text, variables: variablesFor(text.body ?? "", {}) } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: queryKeys.contents.all }),
  });
}

export interface Execution {
  name?: string;
  variables?: Record<string, string>;
}

/** Start a run. One press sends one idempotency key, so that a lost answer does not make the user pay twice. */
export function useExecute(presetId: string, key: string) {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Execution) =>
      data(
        api.client.POST("/api/presets/{preset_id}/execute", {
          params: { path: { preset_id: presetId }, header: { "Idempotency-Key": key } },
          body,
        }),
      ) as Promise<Run>,
    onSuccess: () => queries.invalidateQueries({ queryKey: queryKeys.runs.all }),
  });
}
