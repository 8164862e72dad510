/** The models that can be called: at once those that the service knows, a moment later those of the stored keys. */
import { useQuery } from "@tanstack/react-query";
import { useApi } from "../app/context";
import { modelsQuery, offeredModelsQuery } from "./queries";
import type { Model } from "./types";

export interface KnownModels {
  models: readonly Model[];
  /** The first list is not there yet. */
  isPending: boolean;
  /** What the stored keys open is not known yet, so an unknown name may still be a good one. */
  isPartial: boolean;
}

export function useModels(): KnownModels {
  const api = useApi();
  const known = useQuery(modelsQuery(api));
  const offered = useQuery(offeredModelsQuery(api));
  return {
    models: offered.data?.items ?? known.data?.items ?? [],
    isPending: known.isPending && offered.isPending,
    isPartial: !offered.data,
  };
}
