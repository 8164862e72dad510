/** The user's settings, which decide about theme, numbers and times of every page. */
import { queryOptions, useQuery } from "@tanstack/react-query";
import { tagged } from "carrel-sdk";
import type { Api } from "../api/client";
import { queryKeys } from "../api/queryKeys";
import { useApi } from "./context";

export function settingsQuery(api: Api) {
  return queryOptions({
    queryKey: queryKeys.settings,
    queryFn: ({ signal }) => tagged(api.client.GET("/api/settings", { signal })),
    staleTime: 60_000,
  });
}

export function useSettings() {
  return useQuery(settingsQuery(useApi()));
}

export type Theme = "light" | "dark" | "system";
