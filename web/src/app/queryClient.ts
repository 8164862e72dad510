/** The query cache. It stays in memory and is never stored. */
import { type InvalidateOptions, type InvalidateQueryFilters, QueryClient } from "@tanstack/react-query";
import { ApiError, ConnectionLost } from "carrel-sdk";

const TRIES = 3;

/** It fetches anew also what is invalidated during its first fetch, whose answer may be from before the change. */
class Queries extends QueryClient {
  override invalidateQueries(filters: InvalidateQueryFilters = {}, options?: InvalidateOptions): Promise<void> {
    for (const query of this.getQueryCache().findAll({ ...filters, type: "active", fetchStatus: "fetching" }))
      if (query.state.data === undefined && !query.isStatic()) void query.cancel({ silent: true });
    return super.invalidateQueries(filters, options);
  }
}

export function makeQueryClient(): QueryClient {
  return new Queries({
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        refetchOnWindowFocus: true,
        networkMode: "always",
        // A refusal stays a refusal; what passes by itself is asked again. A lost connection asks again when it is
        // back.
        retry: (count, error) => count < TRIES && error instanceof ApiError && error.isPassing,
        retryDelay: (count, error) =>
          error instanceof ApiError && error.retryAfterSeconds ? error.retryAfterSeconds * 1000 : 500 * 2 ** count,
      },
      mutations: { networkMode: "always" },
    },
  });
}

export function isLost(error: unknown): boolean {
  return error instanceof ConnectionLost;
}
