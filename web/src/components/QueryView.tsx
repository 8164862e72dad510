import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ErrorNote, Skeleton } from "./Feedback";

interface Props<T> {
  query: UseQueryResult<T>;
  lines?: number;
  children: (data: T) => ReactNode;
}

/** Loading, error or data; data that is there stays while newer ones are fetched. */
export function QueryView<T>({ query, lines, children }: Props<T>) {
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.isError) return <ErrorNote error={query.error} onRetry={() => void query.refetch()} />;
  return <Skeleton {...(lines === undefined ? {} : { lines })} />;
}
