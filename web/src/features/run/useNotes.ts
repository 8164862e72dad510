import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { data } from "carrel-sdk";
import type { Api } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";
import type { AnswerNote, AnswerNoteIn } from "../../api/types";
import { useApi } from "../../app/context";
import { toast } from "../../components/Toasts";

/** What a person says of an answer. */
export type Kept = Pick<AnswerNote, "starred" | "note">;
export type Notes = ReadonlyMap<string, Kept>;

const PAGE = 200;
const NONE: Notes = new Map();
const NOTHING: Kept = { starred: false, note: "" };

/** The key of an answer; `document` is as in the report, "d3". */
export function noteKey(document: string, candidate: string): string {
  return `${document} ${candidate}`;
}

function notesQuery(api: Api, runId: string) {
  return queryOptions({
    queryKey: queryKeys.run.notes(runId),
    queryFn: async ({ signal }) => {
      const found = new Map<string, Kept>();
      let cursor: string | null = null;
      do {
        const query: { limit: number; cursor?: string } = { limit: PAGE, ...(cursor ? { cursor } : {}) };
        const params = { path: { run_id: runId }, query };
        const page = await data(api.client.GET("/api/runs/{run_id}/notes", { params, signal }));
        for (const { document, candidate, repeat, starred, note } of page.items)
          // The app shows the first answer of a candidate that answers more than once.
          if (repeat === 1) found.set(noteKey(`d${document}`, candidate), { starred, note });
        cursor = page.next_cursor;
      } while (cursor);
      return found;
    },
  });
}

/** The stars and notes of a run, and what changes one. */
export function useNotes(runId: string) {
  const api = useApi();
  const queries = useQueryClient();
  const notes = useQuery(notesQuery(api, runId)).data ?? NONE;
  const write = useMutation({
    mutationFn: async ({ document, candidate, part }: { document: string; candidate: string; part: Partial<Kept> }) => {
      // What was kept before goes along, also if it was not here yet when the key was pressed.
      const kept = (await queries.query({ ...notesQuery(api, runId), staleTime: "static" })).get(
        noteKey(document, candidate),
      );
      const body: AnswerNoteIn = {
        candidate,
        repeat: 1,
        document: Number(document.slice(1)),
        ...NOTHING,
        ...kept,
        ...part,
      };
      return data(api.client.PUT("/api/runs/{run_id}/notes", { params: { path: { run_id: runId } }, body }));
    },
    onMutate: ({ document, candidate, part }) =>
      // At once: a star is a light thing.
      queries.setQueryData<Notes>(queryKeys.run.notes(runId), (now) => {
        const key = noteKey(document, candidate);
        return now && new Map(now).set(key, { ...NOTHING, ...now.get(key), ...part });
      }),
    onError: toast.failed,
    onSettled: () =>
      Promise.all(
        [queryKeys.run.notes(runId), queryKeys.run.criteriaProposal(runId)].map((queryKey) =>
          queries.invalidateQueries({ queryKey }),
        ),
      ),
  });
  const of = (document: string, candidate: string): Kept => notes.get(noteKey(document, candidate)) ?? NOTHING;
  const save = (document: string, candidate: string, part: Partial<Kept>) =>
    write.mutate({ document, candidate, part });
  return {
    notes,
    of,
    save,
    star: (document: string, candidate: string) =>
      save(document, candidate, { starred: !of(document, candidate).starred }),
  };
}
