import { useQueries, useQuery } from "@tanstack/react-query";
import { useState } from "react";
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

/**
 * The names of the documents with these numbers, wherever they are among all: lines of a log may be about any of ten
 * thousand. It asks for those alone whose names are not known yet.
 */
export function useNamesOf(runId: string, numbers: readonly number[]): ReadonlyMap<number, string> {
  const [names, setNames] = useState<ReadonlyMap<number, string>>(new Map());
  const unknown = [...new Set(numbers)].filter((number) => !names.has(number)).slice(0, CHUNK);
  const wanted = useSettled(unknown.join(), QUIET_MS);
  const asked = wanted ? wanted.split(",").map(Number) : [];
  const { data } = useQuery({ ...namesQuery(useApi(), runId, asked), enabled: asked.length > 0 });
  if (data?.rows.some(({ document }) => !names.has(document))) setNames(new Map([...names, ...namesIn([{ data }])]));
  return names;
}

function namesIn(answers: readonly { data: { rows: readonly AnswerBeginnings[] } | undefined }[]): Map<number, string> {
  return new Map(answers.flatMap(({ data }) => data?.rows ?? []).map(({ document, name }) => [document, name]));
}

function chunkOf(number: number, total: number): number {
  return Math.floor((Math.max(1, Math.min(total, number)) - 1) / CHUNK);
}

function numbersIn(chunk: number, total: number): number[] {
  return Array.from({ length: Math.min(CHUNK, total - chunk * CHUNK) }, (_, at) => chunk * CHUNK + at + 1);
}
