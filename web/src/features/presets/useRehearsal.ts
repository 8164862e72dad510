/** The estimate of a preset while it is edited: the service is asked a moment after the last key. */
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { ApiError } from "carrel-sdk";
import type { Configuration, DryRun, PresetIn } from "../../api/types";
import { useApi } from "../../app/context";
import { useSettled } from "../../lib/useSettled";
import { rehearsalQuery } from "../../api/queries";

const QUIET_MS = 600;

export interface Rehearsed {
  data: DryRun | undefined;
  /** Belongs to exactly what is on the page; its paths are those of the form. */
  error: Error | undefined;
  /** The data belongs to an earlier state of the form. */
  isOld: boolean;
  retry: () => void;
}

export function useRehearsal(draft: PresetIn, isWhole: boolean): Rehearsed {
  const settled = useSettled(draft, QUIET_MS);
  const isSettled = settled === draft;
  const configuration = useMemo(() => configurationOf(settled), [settled]);
  const query = useQuery({ ...rehearsalQuery(useApi(), configuration), enabled: isWhole && isSettled });
  return {
    data: query.data,
    error: isWhole && isSettled && query.isError ? ofForm(query.error) : undefined,
    isOld: !isSettled || query.isPlaceholderData,
    retry: () => void query.refetch(),
  };
}

/** What a run is made from: a preset without what it is called. */
export function configurationOf(draft: PresetIn): Configuration {
  const own = new Set(["name", "description", "tags"]);
  return Object.fromEntries(Object.entries(draft).filter(([field]) => !own.has(field))) as Configuration;
}

/** The error, with its paths changed to those of a preset's fields. */
export function ofForm(error: Error): Error {
  if (!(error instanceof ApiError)) return error;
  const faults = error.faults.map((fault) => ({ ...fault, path: fault.path.replace(/^configuration\./, "") }));
  return new ApiError(error.status, error.code, error.message, faults, error.requestId, error.retryAfterSeconds);
}
