/** Who judges some candidates unless the user chooses others: the service decides it, and says why. */
import { useQuery } from "@tanstack/react-query";
import { data } from "carrel-sdk";
import { useApi } from "../app/context";
import { queryKeys } from "./queryKeys";
import type { DefaultJudges } from "./types";

const UNKNOWN: DefaultJudges = { judges: [], sentence: "Who judges by default is not known now: choose a judge." };

/** Nothing while the service is asked. */
export function useDefaultJudges(candidates: readonly string[]): DefaultJudges | undefined {
  const api = useApi();
  const candidate = [...new Set(candidates)].filter(Boolean).toSorted();
  const { data: found, isError } = useQuery({
    queryKey: queryKeys.defaultJudges(candidate),
    queryFn: ({ signal }) =>
      data(api.client.GET("/api/evaluation/judges/default", { params: { query: { candidate } }, signal })),
    staleTime: 60_000,
    retry: false,
  });
  return found ?? (isError ? UNKNOWN : undefined);
}
