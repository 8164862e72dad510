/** The query cache. It stays in memory and is never stored. */
import { QueryClient } from "@tanstack/react-query";
import { ApiError, ConnectionLost } from "carrel-sdk";

const TRIES = 3;

export function makeQueryClient(): QueryClient {
  return new QueryClient({
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
