import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { data } from "carrel-sdk";
import type { Api } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";

/** The leaderboard of the runs that are like this one, or like the newest. */
export function leaderboardQuery(api: Api, like: string | undefined) {
  return queryOptions({
    queryKey: queryKeys.leaderboard(like),
    queryFn: ({ signal }) =>
      data(api.client.GET("/api/evaluation/leaderboard", { params: { query: like ? { like } : {} }, signal })),
    // The choice of a group keeps the focus while the next one is computed.
    placeholderData: keepPreviousData,
  });
}
