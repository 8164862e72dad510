/** A table that is dropped on a new comparison: it becomes a data set at once, with the roles that its cells suggest. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { data, ifMatch, tagged } from "carrel-sdk";
import type { Api } from "../../../api/client";
import { queryKeys } from "../../../api/queryKeys";
import type { DataSetColumn, UploadedDataSet } from "../../../api/types";
import { useApi } from "../../../app/context";
import { toast } from "../../../components/Toasts";
import { guessedRoles, withRole } from "./table";

/** So many rows show what is in a column. */
const LOOKED_AT = 50;

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

/** Keep a table; it tells the id of the data set that it is now. */
export function useBringTable() {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (file: File) => {
      const body = new FormData();
      body.set("file", file, file.name);
      const headers = { "Idempotency-Key": crypto.randomUUID() };
      const made = await api.upload<UploadedDataSet>({ path: "/api/data-sets", body, headers });
      const rows = await queries.query(sampleQuery(api, made.id, made.version));
      const columns = guessedRoles(made.columns, rows);
      if (columns.some(({ role }, at) => role !== made.columns[at]?.role))
        // A cell further down may not fit, as where two rows have one name. Then rows have numbers.
        await saveColumns(api, made.id, columns).catch(() =>
          saveColumns(api, made.id, withRole(columns, "id", undefined)),
        );
      return made;
    },
    onSuccess: ({ notes }) => {
      notes.forEach(toast.done);
      return queries.invalidateQueries({ queryKey: queryKeys.dataSets });
    },
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
