/** Connections to repositories on GitHub, and texts that are sent to one: asked for by more than one feature. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { useApi } from "../app/context";
import { toast } from "../components/Toasts";
import { ApiError, data, ifMatch } from "carrel-sdk";
import type { Api } from "./client";
import { queryKeys } from "./queryKeys";
import type { GithubConnection, ConnectionChange, ConnectionIn, ConnectionTest, ExportIn } from "./types";

export const GITHUB = "https://api.github.com";
/** As many contents as the service puts into one commit. */
export const MOST_SENT = 500;

const ROOT = "/api/github-connections";
const ONE = "/api/github-connections/{connection_id}";

export function connectionsQuery(api: Api) {
  return queryOptions({
    queryKey: queryKeys.github.connections,
    queryFn: ({ signal }) => data(api.client.GET(ROOT, { params: { query: { limit: 200 } }, signal })),
  });
}

function where(connectionId: string) {
  return { params: { path: { connection_id: connectionId } } };
}

export function useConnections() {
  const api = useApi();
  const queries = useQueryClient();
  const refresh = () => queries.invalidateQueries({ queryKey: queryKeys.github.connections, exact: true });
  const test = (connectionId: string) =>
    data(api.client.POST("/api/github-connections/{connection_id}/test", where(connectionId)));
  return {
    connect: useMutation({
      mutationFn: async (connection: ConnectionIn) => {
        const made = await data(api.client.POST(ROOT, { body: connection }));
        // Asked at once, while the token is still in the user's hand; one that opens nothing is not kept.
        const tested = await test(made.id);
        if (!tested.ok) await data(api.client.DELETE(ONE, where(made.id)));
        return { made, test: tested };
      },
      onSuccess: refresh,
    }),
    change: useMutation({
      mutationFn: ({ id, version, change }: { id: string; version: number; change: ConnectionChange }) =>
        data(
          api.client.PUT(ONE, {
            params: { path: { connection_id: id }, header: ifMatch(`"${version}.json"`) },
            body: change,
          }),
        ),
      onSettled: refresh,
    }),
    test: useMutation({ mutationFn: test, onSettled: refresh }),
    remove: useMutation({
      mutationFn: (connectionId: string) => data(api.client.DELETE(ONE, where(connectionId))),
      onSettled: refresh,
      onError: toast.failed,
    }),
  };
}

/** What one connection's token opens, in words. */
export function wordsForTest(test: ConnectionTest): string {
  if (!test.ok)
    return `GitHub does not open this repository: ${adviceFor(test.code ?? undefined) ?? test.code ?? "it gave no reason"}`;
  const kind = test.private ? "private" : "public";
  const may = test.can_write === false ? "may read it, but not write to it" : "may read it and write to it";
  return `It works: the repository is ${kind}, and the token ${may}.`;
}

export function useSend(connectionId: string) {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (wanted: ExportIn) =>
      data(api.client.POST("/api/github-connections/{connection_id}/export", { ...where(connectionId), body: wanted })),
    onSuccess: (_sent, { run }) => run && queries.invalidateQueries({ queryKey: queryKeys.run.one(run) }),
  });
}

const ADVICE: Record<string, string> = {
  "github-host-not-allowed": "your operator has not allowed this address. Change the connection, or ask them.",
  "github-token-rejected": "the token is wrong, has ended or was withdrawn. Give the connection a new one.",
  "github-no-permission":
    "the token may not do this. A fine-grained token needs “Contents: read and write” for the repository.",
  "github-not-found":
    "the token does not open such a repository or branch. Look at the connection’s names, and at which repositories the token is for.",
  "github-moved": "the repository has another name now. Give it to the connection.",
  "github-conflict":
    "the branch moved meanwhile, is protected, or the repository is empty. Try again, or name another branch.",
  "github-rate-limited": "GitHub asks for a pause. Try again later.",
  "github-answer-too-large": "the folder holds more files than are read at once. Choose another one.",
  "github-unavailable": "GitHub did not answer as it should. Try again later; nothing was changed.",
  "nothing-to-export": "nobody leads, so there is no winner’s answer. Choose everybody’s answers.",
  "github-too-much": "that is more than one commit may hold: 500 files and 16 MiB. Send fewer at a time.",
  "not-found": "the connection is no longer there. Choose another.",
};

/** What to do about a refusal of GitHub; undefined for what has nothing to do with it. */
export function adviceFor(code: string | undefined): string | undefined {
  return code === undefined ? undefined : ADVICE[code];
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof ApiError ? error.code : undefined;
}

/** Where a commit is shown; undefined where that cannot be told from the address of the API. */
export function commitUrl(
  connection: Pick<GithubConnection, "base_url" | "repository">,
  commit: string,
): string | undefined {
  const base = connection.base_url.replace(/\/+$/, "");
  const site = base === GITHUB ? "https://github.com" : /^(https:\/\/[^/]+)\/api\/v3$/.exec(base)?.[1];
  return site && /^[0-9a-f]{40,64}$/.test(commit) ? `${site}/${connection.repository}/commit/${commit}` : undefined;
}
