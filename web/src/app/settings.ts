/** The user's settings, which decide about theme, numbers and times of every page. */
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { ifMatch, type Tagged, tagged } from "carrel-sdk";
import type { Api } from "../api/client";
import { queryKeys } from "../api/queryKeys";
import type { UserSettings } from "../api/types";
import { toast } from "../components/Toasts";
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

/** Replace the settings. Pages follow at once; if the service refuses the change, it is undone. */
export function useSaveSettings(settings: Tagged<UserSettings> | undefined, onSaved?: () => void) {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: UserSettings) =>
      tagged(api.client.PUT("/api/settings", { params: { header: ifMatch(settings?.etag) }, body })),
    onMutate: (body) => {
      queries.setQueryData(queryKeys.settings, { ...settings, value: body });
      return settings;
    },
    // What was there when it began: meanwhile the page knows only what it is to become.
    onError: (_error, _body, before) => void queries.setQueryData(queryKeys.settings, before),
    onSuccess: (saved) => {
      queries.setQueryData(queryKeys.settings, saved);
      onSaved?.();
    },
  });
}

export type Density = NonNullable<UserSettings["density"]>;

/** How close rows stand, in every table and list. */
export function useDensity(): [Density, (density: Density) => void] {
  // The app itself asks for the settings; a table only reads what is known of them.
  const settings = useQuery({ ...settingsQuery(useApi()), enabled: false }).data;
  const { mutate } = useSaveSettings(settings);
  const choose = (density: Density) => settings && mutate({ ...settings.value, density }, { onError: toast.failed });
  return [settings?.value.density ?? "comfortable", choose];
}

export type Theme = "light" | "dark" | "system";
