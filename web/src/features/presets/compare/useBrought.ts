/** Files that are dropped on a new comparison: what each is, and what keeps it. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { ApiError, data } from "carrel-sdk";
import { queryKeys } from "../../../api/queryKeys";
import type { UploadedDataSet } from "../../../api/types";
import { useApi } from "../../../app/context";
import { toast } from "../../../components/Toasts";
import { isTextFile } from "../../../lib/contentTypes";
import type { Api } from "../../../api/client";
import { type Brought, isSuite, mayHoldResults, othersOf, type TablePreview } from "./brought";
import { guessedRoles, withRole } from "./table";

const SPREADSHEET = /\.(xlsx?|xlsm|ods)$/i;
const NAME_CHARACTERS = 200;

/** Look at a file without keeping anything; nothing is found where it is a document. */
export function useLook() {
  const api = useApi();
  return useMutation({
    mutationFn: async ({ file, beside, sheet }: { file: File; beside: readonly File[]; sheet?: string }) => {
      if (/\.(ya?ml|json)$/i.test(file.name)) {
        const text = await file.text();
        if (isSuite(file.name, text)) return { kind: "suite", file, text, beside } satisfies Brought;
        if (!mayHoldResults(file, text)) return undefined;
      }
      const { preview, others } = await lookedAt(api, file, othersOf(file, beside), sheet);
      // A program says itself what its columns are.
      const columns = preview.source === "table" ? guessedRoles(preview.columns, preview.rows) : preview.columns;
      return { kind: "table", file, others, preview, columns, sheet } satisfies Brought;
    },
  });
}

/** Tables that do not belong together are looked at one by one. */
async function lookedAt(api: Api, file: File, others: readonly File[], sheet: string | undefined) {
  try {
    return { preview: await previewOf(api, [file, ...others], sheet), others };
  } catch (error) {
    const preview = others.length > 0 ? await previewOf(api, [file], sheet) : undefined;
    if (preview?.source !== "table") throw error;
    return { preview, others: [] };
  }
}

async function previewOf(api: Api, files: readonly File[], sheet: string | undefined): Promise<TablePreview> {
  const look = (source: "guess" | "table") =>
    api.upload<TablePreview>({ path: "/api/data-sets/preview", body: formOf(files, { source, sheet }), headers: {} });
  try {
    return await look("guess");
  } catch (error) {
    // To tell whose results it is takes the whole file into memory; a table is read row by row.
    if (error instanceof ApiError && error.code === "data-set-too-complex") return look("table");
    throw error;
  }
}

/** Keep the rows of a table with the roles that its columns have now. */
export function useKeepTable() {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({ file, others, preview, columns, sheet }: Extract<Brought, { kind: "table" }>) => {
      const keep = (chosen: typeof columns) => {
        const roles = JSON.stringify(Object.fromEntries(chosen.map(({ name, role }) => [name, role])));
        const body = formOf([file, ...others], { source: preview.source, sheet, roles });
        const headers = { "Idempotency-Key": crypto.randomUUID() };
        return api.upload<UploadedDataSet>({ path: "/api/data-sets", body, headers });
      };
      try {
        return await keep(columns);
      } catch (error) {
        const named = columns.find(({ role }) => role === "id");
        const wasGuessed = named && preview.columns.some(({ name, role }) => name === named.name && role !== "id");
        // Further down, two rows have one name: then rows have numbers.
        if (wasGuessed && error instanceof ApiError && error.code === "data-set-rows-invalid")
          return keep(withRole(columns, "id", undefined));
        throw error;
      }
    },
    onSuccess: ({ notes }) => {
      notes.forEach(toast.done);
      return queries.invalidateQueries({ queryKey: queryKeys.dataSets });
    },
  });
}

/** Make a data set and a preset of a suite, with the texts that were dropped beside it. */
export function useImportSuite() {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({ file, text, beside }: Extract<Brought, { kind: "suite" }>) => {
      const texts = await Promise.all(
        beside
          .filter((one) => isTextFile(one) || /\.jsonl?$/i.test(one.name))
          .map(async (one) => [one.name, await one.text()]),
      );
      const name = Array.from(file.name.replace(/\.\w+$/, ""))
        .slice(0, NAME_CHARACTERS)
        .join("");
      const body = { config: text, name, files: Object.fromEntries(texts) as Record<string, string> };
      return data(api.client.POST("/api/suites", { body }));
    },
    onSuccess: () =>
      Promise.all(
        [queryKeys.dataSets, queryKeys.presets, queryKeys.contents.all].map((queryKey) =>
          queries.invalidateQueries({ queryKey }),
        ),
      ),
  });
}

function formOf(files: readonly File[], fields: Record<string, string | undefined>): FormData {
  const form = new FormData();
  for (const file of files) form.append("file", file, file.name);
  for (const [name, value] of Object.entries(fields))
    if (value !== undefined && !(name === "source" && SPREADSHEET.test(files[0]?.name ?? ""))) form.set(name, value);
  return form;
}
