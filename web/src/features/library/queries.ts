import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { data, ifMatch, tagged } from "carrel-sdk";
import type { Api } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";
import type { Content, ContentIn, ContentType, Document } from "../../api/types";
import { useApi } from "../../app/context";
import { toast } from "../../components/Toasts";
import { download } from "../../lib/download";

export interface ContentFilter {
  type?: ContentType | undefined;
  tag?: string | undefined;
  q?: string | undefined;
}

export function contentsQuery(api: Api, { type, tag, q }: ContentFilter) {
  return infiniteQueryOptions({
    queryKey: queryKeys.contents.list({ type, tag, q }),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      data(
        api.client.GET("/api/contents", {
          params: {
            query: {
              limit: 100,
              ...(type ? { type } : {}),
              ...(tag ? { tag } : {}),
              ...(q ? { q } : {}),
              ...(pageParam ? { cursor: pageParam } : {}),
            },
          },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

export function countsQuery(api: Api) {
  return queryOptions({
    queryKey: queryKeys.contents.counts,
    queryFn: ({ signal }) => data(api.client.GET("/api/contents/counts", { signal })),
  });
}

export function contentQuery(api: Api, contentId: string) {
  return queryOptions({
    queryKey: queryKeys.content.one(contentId),
    queryFn: ({ signal }) =>
      tagged(api.client.GET("/api/contents/{content_id}", { params: { path: { content_id: contentId } }, signal })),
    refetchOnWindowFocus: false,
  });
}

export function versionsQuery(api: Api, contentId: string) {
  return queryOptions({
    queryKey: queryKeys.content.versions(contentId),
    queryFn: ({ signal }) =>
      data(
        api.client.GET("/api/contents/{content_id}/versions", {
          params: { path: { content_id: contentId }, query: { limit: 200 } },
          signal,
        }),
      ),
  });
}

export function versionQuery(api: Api, contentId: string, version: number) {
  return queryOptions({
    queryKey: queryKeys.content.version(contentId, version),
    queryFn: ({ signal }) =>
      data(
        api.client.GET("/api/contents/{content_id}/versions/{version}", {
          params: { path: { content_id: contentId, version } },
          signal,
        }),
      ),
    staleTime: Infinity,
  });
}

export function resolutionQuery(api: Api, contentId: string, version: number, variables: Record<string, string>) {
  return queryOptions({
    queryKey: queryKeys.content.resolved(contentId, version, variables),
    queryFn: ({ signal }) =>
      data(
        api.client.POST("/api/contents/{content_id}/resolve", {
          params: { path: { content_id: contentId } },
          body: { variables },
          signal,
        }),
      ),
  });
}

export function useSaveContent(contentId: string | undefined, etag: string | undefined) {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (content: ContentIn) =>
      contentId
        ? tagged(
            api.client.PUT("/api/contents/{content_id}", {
              params: { path: { content_id: contentId }, header: ifMatch(etag) },
              body: content,
            }),
          )
        : tagged(api.client.POST("/api/contents", { body: content })),
    onSuccess: (saved) => {
      queries.setQueryData(queryKeys.content.one(saved.value.id), saved);
      void queries.invalidateQueries({ queryKey: queryKeys.contents.all });
      void queries.invalidateQueries({ queryKey: queryKeys.content.versions(saved.value.id) });
      toast.done("Saved.");
    },
  });
}

export function useContentActions() {
  const api = useApi();
  const queries = useQueryClient();
  const refresh = () => queries.invalidateQueries({ queryKey: queryKeys.contents.all });
  const where = (contentId: string) => ({ params: { path: { content_id: contentId } } });
  return {
    duplicate: useMutation({
      mutationFn: (contentId: string) =>
        data(api.client.POST("/api/contents/{content_id}/duplicate", where(contentId))),
      onSuccess: refresh,
      onError: toast.failed,
    }),
    remove: useMutation({
      mutationFn: (contentId: string) => data(api.client.DELETE("/api/contents/{content_id}", where(contentId))),
      onSuccess: () => {
        toast.done("Deleted.");
        return refresh();
      },
    }),
  };
}

export function useDownloadOriginal() {
  const api = useApi();
  return useMutation({
    mutationFn: async (document: Document) => {
      const answer = await api.raw(
        `/api/documents/${encodeURIComponent(document.id)}/original`,
        "application/octet-stream",
      );
      download(document.file_name || "document", await answer.blob());
    },
    onError: toast.failed,
  });
}

/** Reads an original again; another text than before is a new version of the content. */
export function useReread(content: Content) {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (document: Document) =>
      data(api.client.POST("/api/documents/{document_id}/reread", { params: { path: { document_id: document.id } } })),
    onSuccess: async ({ version }) => {
      await Promise.all([
        queries.invalidateQueries({ queryKey: queryKeys.documents }),
        queries.invalidateQueries({ queryKey: queryKeys.content.one(content.id) }),
      ]);
      toast.done(version === content.version ? "The text is the same as before." : "The text was read anew.");
    },
    onError: toast.failed,
  });
}
