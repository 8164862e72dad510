import { useQueries } from "@tanstack/react-query";
import type { AnswerBeginnings } from "../../api/types";
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
  const chunks = Array.from({ length: last - first + 1 }, (_, at) => first + at);
  const answers = useQueries({ queries: chunks.map((chunk) => namesQuery(api, runId, numbersIn(chunk, total))) });
  return { names: namesIn(answers), error: answers.find(({ error }) => error)?.error };
}

/** The names of the documents with these numbers, wherever they are among all. */
export function useNamesOf(runId: string, numbers: readonly number[]): ReadonlyMap<number, string> {
  const api = useApi();
  const chunks = useSettled([...new Set(numbers.map((number) => chunkOf(number)))].join(), QUIET_MS);
  const wanted = chunks ? chunks.split(",").map(Number) : [];
  return namesIn(useQueries({ queries: wanted.map((chunk) => namesQuery(api, runId, numbersIn(chunk))) }));
}

function namesIn(answers: readonly { data: { rows: readonly AnswerBeginnings[] } | undefined }[]): Map<number, string> {
  return new Map(answers.flatMap(({ data }) => data?.rows ?? []).map(({ document, name }) => [document, name]));
}

function chunkOf(number: number, total = Infinity): number {
  return Math.floor((Math.max(1, Math.min(total, number)) - 1) / CHUNK);
}

function numbersIn(chunk: number, total = Infinity): number[] {
  return Array.from({ length: Math.min(CHUNK, total - chunk * CHUNK) }, (_, at) => chunk * CHUNK + at + 1);
}
