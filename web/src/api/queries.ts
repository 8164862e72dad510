/** Queries that more than one feature uses. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { data } from "carrel-sdk";
import type { Api } from "./client";
import { queryKeys } from "./queryKeys";
import type { Configuration, ContentSummary, ContentType, DataSetSummary, Document, DryRun } from "./types";

const PAGE = 200;
const AT_MOST = 2000;

export function modelsQuery(api: Api) {
  return queryOptions({
    queryKey: queryKeys.models.all,
    queryFn: ({ signal }) => data(api.client.GET("/api/models", { signal })),
    staleTime: 60_000,
  });
}

/** The same, with what the stored keys open: the service asks their providers, which takes a moment. */
export function offeredModelsQuery(api: Api) {
  return queryOptions({
    queryKey: queryKeys.models.offered,
    queryFn: ({ signal }) => data(api.client.GET("/api/models", { params: { query: { of_keys: true } }, signal })),
    staleTime: 5 * 60_000,
  });
}

/** Which of these models are switched off soon, or were. */
export function endingsQuery(api: Api, models: readonly string[]) {
  return queryOptions({
    queryKey: queryKeys.models.endings(models),
    queryFn: ({ signal }) =>
      data(api.client.GET("/api/models/endings", { params: { query: { model: [...models] } }, signal })),
    enabled: models.length > 0,
    staleTime: 5 * 60_000,
  });
}

/** The set-ups that are not finished. */
export function draftsQuery(api: Api) {
  return queryOptions({
    queryKey: queryKeys.drafts,
    queryFn: ({ signal }) => data(api.client.GET("/api/preset-drafts", { signal })),
  });
}

export function keysQuery(api: Api) {
  return queryOptions({
    queryKey: queryKeys.providerKeys,
    queryFn: ({ signal }) => data(api.client.GET("/api/provider-keys", { params: { query: { limit: 200 } }, signal })),
  });
}

/** All contents of a type, to choose from; the newest two thousand of them. */
export function contentChoiceQuery(api: Api, type: ContentType) {
  return queryOptions({
    queryKey: queryKeys.contents.choice(type),
    queryFn: async ({ signal }) => {
      const found: ContentSummary[] = [];
      let cursor: string | undefined;
      // A page of large rows has fewer than its limit.
      while (found.length < AT_MOST) {
        const query = { type, limit: PAGE, ...(cursor ? { cursor } : {}) };
        const { items, next_cursor } = await data(api.client.GET("/api/contents", { params: { query }, signal }));
        found.push(...items);
        if (!next_cursor) break;
        cursor = next_cursor;
      }
      return found;
    },
    staleTime: 5_000,
  });
}

/** All data sets, the newest first; two thousand at most. */
export function dataSetsQuery(api: Api) {
  return queryOptions({
    queryKey: queryKeys.dataSets,
    queryFn: async ({ signal }) => {
      const found: DataSetSummary[] = [];
      let cursor: string | undefined;
      while (found.length < AT_MOST) {
        const query = { limit: PAGE, ...(cursor ? { cursor } : {}) };
        const { items, next_cursor } = await data(api.client.GET("/api/data-sets", { params: { query }, signal }));
        found.push(...items);
        if (!next_cursor) break;
        cursor = next_cursor;
      }
      return found;
    },
    staleTime: 5_000,
  });
}

export function trialQuery(api: Api, runId: string) {
  return queryOptions({
    queryKey: queryKeys.run.one(runId),
    queryFn: ({ signal }) =>
      data(api.client.GET("/api/runs/{run_id}", { params: { path: { run_id: runId } }, signal })),
    retry: false,
  });
}

/** The tasks of a small run that make its answers, in the order of the plan. */
export function answersQuery(api: Api, runId: string) {
  return queryOptions({
    queryKey: queryKeys.run.answers(runId),
    queryFn: async ({ signal }) => {
      const params = { path: { run_id: runId }, query: { kind: "generate" as const, limit: PAGE } };
      const { items } = await data(api.client.GET("/api/runs/{run_id}/tasks", { params, signal }));
      return [...items].sort((one, other) => one.key.localeCompare(other.key, "en", { numeric: true }));
    },
  });
}

/** One answer, which never changes once it is there. */
export function generatedQuery(api: Api, runId: string, generatedId: string) {
  return queryOptions({
    queryKey: queryKeys.run.generated(runId, generatedId),
    queryFn: ({ signal }) =>
      data(
        api.client.GET("/api/runs/{run_id}/generated/{generated_id}", {
          params: { path: { run_id: runId, generated_id: generatedId } },
          signal,
        }),
      ),
    staleTime: Infinity,
  });
}

export function meQuery(api: Api) {
  return queryOptions({
    queryKey: queryKeys.me,
    queryFn: ({ signal }) => data(api.client.GET("/api/users/me", { signal })),
  });
}

/** The criteria that the reasons of a run's votes and the notes on its answers ask for: all of them, or what is about half of the documents. */
export function criteriaProposalQuery(api: Api, runId: string, half: boolean) {
  const params = { path: { run_id: runId }, query: { half } };
  return queryOptions({
    queryKey: queryKeys.run.criteriaProposal(runId, half),
    queryFn: ({ signal }) => data(api.client.GET("/api/runs/{run_id}/criteria-proposal", { params, signal })),
  });
}

/** The estimate of a preset that is not saved yet. The service checks everything that it names. */
export function rehearsalQuery(api: Api, configuration: Configuration) {
  return queryOptions({
    queryKey: queryKeys.rehearsal(configuration),
    queryFn: ({ signal }) =>
      data(
        api.client.POST("/api/runs", { params: { query: { dry_run: true } }, body: { configuration }, signal }),
      ) as unknown as Promise<DryRun>,
    retry: false,
    gcTime: 60_000,
    placeholderData: keepPreviousData,
  });
}

/** How the one document of a trial begins. */
export function triedDocumentQuery(api: Api, runId: string) {
  const params = { path: { run_id: runId }, query: { documents: "1", answers: false } };
  return queryOptions({
    queryKey: queryKeys.run.names(runId, [1]),
    queryFn: ({ signal }) => data(api.client.GET("/api/runs/{run_id}/answers/beginnings", { params, signal })),
    staleTime: Infinity,
  });
}

/** The originals that are kept, by the content that each became; the newest two thousand of them. */
export function documentsQuery(api: Api) {
  return queryOptions({
    queryKey: queryKeys.documents,
    queryFn: async ({ signal }) => {
      const found = new Map<string, Document>();
      let cursor: string | undefined;
      // A page of large rows has fewer than its limit.
      while (found.size < AT_MOST) {
        const query = { limit: PAGE, ...(cursor ? { cursor } : {}) };
        const { items, next_cursor } = await data(api.client.GET("/api/documents", { params: { query }, signal }));
        for (const document of items) found.set(document.content_id, document);
        if (!next_cursor) break;
        cursor = next_cursor;
      }
      return found;
    },
    staleTime: 60_000,
  });
}

/** A page of a PDF as it looks, with the text that was read from it. */
export function pageQuery(api: Api, documentId: string, number: number) {
  const params = { path: { document_id: documentId, number } };
  return queryOptions({
    queryKey: queryKeys.documentPage(documentId, number),
    queryFn: ({ signal }) => data(api.client.GET("/api/documents/{document_id}/pages/{number}", { params, signal })),
    staleTime: 60_000,
  });
}

export function textQuery(api: Api, contentId: string) {
  const params = { path: { content_id: contentId } };
  return queryOptions({
    queryKey: queryKeys.content.text(contentId),
    queryFn: ({ signal }) => data(api.client.GET("/api/contents/{content_id}", { params, signal })),
  });
}
