/** The keys of providers: storing, trying and deleting one. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type components, data } from "carrel-sdk";
import { queryKeys } from "../../api/queryKeys";
import { useApi } from "../../app/context";
import { toast } from "../Toasts";

export type KeyIn = components["schemas"]["ProviderKeyIn"];
export type KeyTest = ReturnType<typeof useKeys>["test"];

export function useKeys() {
  const api = useApi();
  const queries = useQueryClient();
  const refresh = () => {
    void queries.invalidateQueries({ queryKey: queryKeys.providerKeys });
    void queries.invalidateQueries({ queryKey: queryKeys.models.all });
  };
  return {
    store: useMutation({
      mutationFn: (key: KeyIn) => data(api.client.POST("/api/provider-keys", { body: key })),
      // What came of it is told by the test that follows: success before a failure would be half the truth.
      onSuccess: refresh,
    }),
    remove: useMutation({
      mutationFn: (provider: string) =>
        data(api.client.DELETE("/api/provider-keys/{provider}", { params: { path: { provider } } })),
      onSuccess: refresh,
      onError: toast.failed,
    }),
    test: useMutation({
      mutationFn: (provider: string) =>
        data(api.client.GET("/api/provider-keys/test/{provider}", { params: { path: { provider } } })),
      onSuccess: refresh,
      onError: toast.failed,
    }),
  };
}
