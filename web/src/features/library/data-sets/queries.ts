/** Data sets: reading one with its rows and versions, and what changes it. */
import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { data, ifMatch, tagged } from "carrel-sdk";
import type { Api } from "../../../api/client";
import { queryKeys } from "../../../api/queryKeys";
import type { DataSetChange, UploadedDataSet } from "../../../api/types";
import { useApi } from "../../../app/context";
import { toast } from "../../../components/Toasts";

const ROWS = 20;

export function dataSetQuery(api: Api, dataSetId: string) {
  return queryOptions({
    queryKey: queryKeys.dataSet.one(dataSetId),
    queryFn: ({ signal }) =>
      tagged(api.client.GET("/api/data-sets/{data_set_id}", { params: { path: { data_set_id: dataSetId } }, signal })),
    // An open editor must not be changed under the user's hands.
    refetchOnWindowFocus: false,
  });
}

export function dataSetVersionsQuery(api: Api, dataSetId: string) {
  return queryOptions({
    queryKey: queryKeys.dataSet.versions(dataSetId),
    queryFn: ({ signal }) =>
      data(
        api.client.GET("/api/data-sets/{data_set_id}/versions", {
          params: { path: { data_set_id: dataSetId }, query: { limit: 200 } },
          signal,
        }),
      ),
  });
}

/** The rows of a version, a few at a time. */
export function rowsQuery(api: Api, dataSetId: string, version: number) {
  return infiniteQueryOptions({
    queryKey: queryKeys.dataSet.rows(dataSetId, version),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      data(
        api.client.GET("/api/data-sets/{data_set_id}/rows", {
          params: {
            path: { data_set_id: dataSetId },
            query: { version, limit: ROWS, ...(pageParam ? { cursor: pageParam } : {}) },
          },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    staleTime: Infinity,
  });
}

/** Keep a table as a new data set. */
export function useUploadTable() {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (file: File) => upload(api, "/api/data-sets", file, undefined),
    onSuccess: ({ notes }) => {
      notes.forEach(toast.done);
      return queries.invalidateQueries({ queryKey: queryKeys.dataSets });
    },
  });
}

/** Keep a table as the next version of a data set. */
export function useUploadVersion(dataSetId: string, etag: string | undefined) {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (file: File) => upload(api, `/api/data-sets/${encodeURIComponent(dataSetId)}/versions`, file, etag),
    onSuccess: ({ notes }) => {
      toast.done("Saved as the next version.");
      notes.forEach(toast.done);
      return refresh(queries, dataSetId);
    },
  });
}

export function useSaveDataSet(dataSetId: string, etag: string | undefined) {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (change: DataSetChange) =>
      tagged(
        api.client.PUT("/api/data-sets/{data_set_id}", {
          params: { path: { data_set_id: dataSetId }, header: ifMatch(etag) },
          body: change,
        }),
      ),
    onSuccess: (saved) => {
      queries.setQueryData(queryKeys.dataSet.one(dataSetId), saved);
      toast.done("Saved.");
      void queries.invalidateQueries({ queryKey: queryKeys.dataSets });
      void queries.invalidateQueries({ queryKey: queryKeys.dataSet.versions(dataSetId) });
    },
  });
}

export function useDeleteDataSet(dataSetId: string) {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () =>
      data(api.client.DELETE("/api/data-sets/{data_set_id}", { params: { path: { data_set_id: dataSetId } } })),
    onSuccess: () => {
      toast.done("Deleted. Runs keep the rows that they took.");
      return queries.invalidateQueries({ queryKey: queryKeys.dataSets });
    },
  });
}

function upload(api: Api, path: string, file: File, etag: string | undefined): Promise<UploadedDataSet> {
  const body = new FormData();
  body.set("file", file, file.name);
  return api.upload<UploadedDataSet>({
    path,
    body,
    headers: { "Idempotency-Key": crypto.randomUUID(), ...ifMatch(etag) },
  });
}

function refresh(queries: ReturnType<typeof useQueryClient>, dataSetId: string) {
  void queries.invalidateQueries({ queryKey: queryKeys.dataSets });
  return queries.invalidateQueries({ queryKey: queryKeys.dataSet.one(dataSetId) });
}
