import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { type components, data } from "carrel-sdk";
import type { Api } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";
import { useApi } from "../../app/context";
import { toast } from "../../components/Toasts";

export type RateLimit = components["schemas"]["RateLimit"];
export type RateLimitIn = components["schemas"]["RateLimitIn"];
export type ModelPrice = components["schemas"]["ModelPrice"];
export type ModelPriceIn = components["schemas"]["ModelPriceIn"];

/** One model by its full name, also of a provider whose models are not listed. */
export function modelQuery(api: Api, name: string) {
  return queryOptions({
    queryKey: queryKeys.models.one(name),
    queryFn: ({ signal }) => data(api.client.GET("/api/models/{model}", { params: { path: { model: name } }, signal })),
  });
}

/** What is known of each judge. */
export function judgesQuery(api: Api) {
  return queryOptions({
    queryKey: queryKeys.judges,
    queryFn: ({ signal }) => data(api.client.GET("/api/evaluation/judges", { signal })),
  });
}

export function rateLimitsQuery(api: Api) {
  return queryOptions({
    queryKey: queryKeys.rateLimits,
    queryFn: ({ signal }) => data(api.client.GET("/api/rate-limits", { signal })),
    refetchInterval: 10_000,
  });
}

/** What the user said that models cost. */
export function modelPricesQuery(api: Api) {
  return queryOptions({
    queryKey: queryKeys.modelPrices,
    queryFn: ({ signal }) => data(api.client.GET("/api/model-prices", { signal })),
  });
}

export function useModelPrices() {
  const api = useApi();
  const queries = useQueryClient();
  // Models and estimates name these prices.
  const refresh = () =>
    Promise.all(
      [queryKeys.modelPrices, queryKeys.models.all, queryKeys.rehearsals, queryKeys.preset.each].map((queryKey) =>
        queries.invalidateQueries({ queryKey }),
      ),
    );
  return {
    save: useMutation({
      mutationFn: ({ model, price }: { model: string; price: ModelPriceIn }) =>
        data(api.client.PUT("/api/model-prices/{model}", { params: { path: { model } }, body: price })),
      onSuccess: refresh,
    }),
    remove: useMutation({
      mutationFn: (model: string) =>
        data(api.client.DELETE("/api/model-prices/{model}", { params: { path: { model } } })),
      onSuccess: refresh,
      onError: toast.failed,
    }),
  };
}

export function useRateLimits() {
  const api = useApi();
  const queries = useQueryClient();
  const options = {
    onSuccess: () => {
      toast.done("Saved.");
      return queries.invalidateQueries({ queryKey: queryKeys.rateLimits });
    },
  };
  return {
    save: useMutation({
      mutationFn: ({ provider, limit }: { provider: string; limit: RateLimitIn }) =>
        data(api.client.PUT("/api/rate-limits/{provider}", { params: { path: { provider } }, body: limit })),
      ...options,
    }),
    reset: useMutation({
      mutationFn: (provider: string) =>
        data(api.client.DELETE("/api/rate-limits/{provider}", { params: { path: { provider } } })),
      ...options,
      onError: toast.failed,
    }),
  };
}
