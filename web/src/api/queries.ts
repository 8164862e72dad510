/** What more than one feature asks for. */
import { queryOptions } from "@tanstack/react-query";
import { type Api, data } from "./client";
import type { ContentSummary, ContentType } from "./types";

const PAGE = 200;
const PAGES_AT_MOST = 10;

export function modelsQuery(api: Api) {
  return queryOptions({
    queryKey: ["models"],
    queryFn: ({ signal }) => data(api.client.GET("/api/models", { signal })),
    staleTime: 60_000,
  });
}

/** All contents of a type, to choose from; the newest two thousand of them. */
export function contentChoiceQuery(api: Api, type: ContentType) {
  return queryOptions({
    queryKey: ["contents", "choice", type],
    queryFn: async ({ signal }) => {
      const found: ContentSummary[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < PAGES_AT_MOST; page++) {
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

export function meQuery(api: Api) {
  return queryOptions({
    queryKey: ["me"],
    queryFn: ({ signal }) => data(api.client.GET("/api/users/me", { signal })),
  });
}
