import { useCallback, useEffect } from "react";

interface Paged {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => Promise<unknown>;
}

/** Asks for the next part of a list, unless that is under way or there is none. `isWhole`: all parts are needed at once. */
export function useNextPage({ hasNextPage, isFetchingNextPage, fetchNextPage }: Paged, isWhole = false): () => void {
  const next = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  useEffect(() => {
    if (isWhole) next();
  }, [isWhole, next]);
  return next;
}
