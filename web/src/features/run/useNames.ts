import { useQueries } from "@tanstack/react-query";
import { useApi } from "../../app/context";
import { useSettled } from "../../lib/useSettled";
import { namesQuery } from "./queries";

const CHUNK = 100;
/** Who scrolls past thousands of rows asks for none of them. */
const QUIET_MS = 50;

/** The names of the documents with these numbers and of some around them. */
export function useNames(runId: string, total: number, from: number, to: number) {
  const api = useApi();
  const first = useSettled(chunkOf(from, total), QUIET_MS);
  const last = useSettled(chunkOf(to, total), QUIET_MS);
  const chunks = Array.from({ length: last - first + 1 }, (_, at) => numbersIn(first + at, total));
  const answers = useQueries({ queries: chunks.map((chunk) => namesQuery(api, runId, chunk)) });
  const names = new Map<number, string>();
  for (const { data } of answers) for (const { document, name } of data?.rows ?? []) names.set(document, name);
  return { names, error: answers.find(({ error }) => error)?.error };
}

function chunkOf(number: number, total: number): number {
  return Math.floor((Math.max(1, Math.min(total, number)) - 1) / CHUNK);
}

function numbersIn(chunk: number, total: number): number[] {
  return Array.from({ length: Math.min(CHUNK, total - chunk * CHUNK) }, (_, at) => chunk * CHUNK + at + 1);
}
