import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { data } from "carrel-sdk";
import type { Api } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";
import type { ContentType, ImportOutcome } from "../../api/types";
import { useApi } from "../../app/context";
import { toast } from "../../components/Toasts";

/** As many files as the service takes in one import. */
export const MOST_FILES = 100;

const WHY_NOT: Record<string, string> = {
  "github-not-found": "is not there any more",
  "too-large": "is larger than a text may be",
  "not-text": "is no UTF-8 text",
  "invalid-input": "is no text of this type",
};

export function whyNot(code: string): string {
  return WHY_NOT[code] ?? code;
}

/**
 * The entries of one folder. The first commit that was seen is used for browsing and importing until the dialog is
 * opened again.
 */
export function treeQuery(api: Api, connectionId: string, path: string, commit: string | undefined) {
  return queryOptions({
    queryKey: queryKeys.github.tree(connectionId, path, commit),
    queryFn: ({ signal }) =>
      data(
        api.client.GET("/api/github-connections/{connection_id}/tree", {
          params: {
            path: { connection_id: connectionId },
            query: { ...(path ? { path } : {}), ...(commit ? { commit } : {}) },
          },
          signal,
        }),
      ),
    // GitHub may ask for a pause of an hour, so the user decides when to try again.
    retry: false,
    refetchOnWindowFocus: false,
  });
}

export interface Wanted {
  paths: string[];
  type: ContentType;
  commit: string;
}

export function useImport(connectionId: string) {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (wanted: Wanted): Promise<ImportOutcome> =>
      data(
        api.client.POST("/api/github-connections/{connection_id}/import", {
          params: { path: { connection_id: connectionId } },
          body: wanted,
        }),
      ),
    onSuccess: ({ imported }) => {
      if (imported.length) toast.done(`${imported.length} ${imported.length === 1 ? "file" : "files"} imported.`);
      return queries.invalidateQueries({ queryKey: queryKeys.contents.all });
    },
  });
}
