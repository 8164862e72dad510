import { useQueries } from "@tanstack/react-query";
import type { AnswerBeginnings } from "../../../api/types";
import { useApi } from "../../../app/context";
import { useSettled } from "../../../lib/useSettled";
import { beginningsQuery } from "../queries";

const CHUNK = 40;
/** Who scrolls past thousands of rows asks for none of them. */
const QUIET_MS = 50;

/** The names and beginnings of the rows in sight and of some after them, by the numbers of their documents. */
export function useBeginnings(runId: string, documents: readonly number[], from: number, to: number, isLive: boolean) {
  const api = useApi();
  const first = useSettled(Math.floor(from / CHUNK), QUIET_MS);
  const last = useSettled(Math.floor((to + CHUNK / 2) / CHUNK), QUIET_MS);
  const chunks = Array.from({ length: Math.max(0, last - first) + 1 }, (_, at) =>
    documents.slice((first + at) * CHUNK, (first + at + 1) * CHUNK),
  ).filter((chunk) => chunk.length);
  const answers = useQueries({ queries: chunks.map((chunk) => beginningsQuery(api, runId, chunk, isLive)) });
  const found = new Map<number, AnswerBeginnings>();
  for (const { data } of answers) for (const row of data?.rows ?? []) found.set(row.document, row);
  return { found, error: answers.find(({ error }) => error)?.error };
}
