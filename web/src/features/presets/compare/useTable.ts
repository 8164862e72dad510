/** The data set of a new comparison: its first rows, and other roles for its columns. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { data, ifMatch, tagged } from "carrel-sdk";
import type { Api } from "../../../api/client";
import { queryKeys } from "../../../api/queryKeys";
import type { DataSetColumn } from "../../../api/types";
import { useApi } from "../../../app/context";

/** The rows that are shown. */
const LOOKED_AT = 2;

/** The first rows of a data set as it is now. */
export function sampleQuery(api: Api, dataSetId: string, version: number) {
  return queryOptions({
    queryKey: queryKeys.dataSet.sample(dataSetId, version),
    queryFn: async ({ signal }) => {
      const params = { path: { data_set_id: dataSetId }, query: { limit: LOOKED_AT } };
      return (await data(api.client.GET("/api/data-sets/{data_set_id}/rows", { params, signal }))).items;
    },
    staleTime: Infinity,
  });
}

/** Give the columns of a data set other roles. */
export function useColumns(dataSetId: string) {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (columns: DataSetColumn[]) => saveColumns(api, dataSetId, columns),
    onSuccess: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: queryKeys.dataSets }),
        queries.invalidateQueries({ queryKey: queryKeys.dataSet.one(dataSetId) }),
        queries.invalidateQueries({ queryKey: queryKeys.rehearsals }),
      ]),
  });
}

async function saveColumns(api: Api, dataSetId: string, columns: DataSetColumn[]) {
  const path = { data_set_id: dataSetId };
  const now = await tagged(api.client.GET("/api/data-sets/{data_set_id}", { params: { path } }));
  const { name, description } = now.value;
  const params = { path, header: ifMatch(now.etag) };
  return data(api.client.PUT("/api/data-sets/{data_set_id}", { params, body: { name, description, columns } }));
}
