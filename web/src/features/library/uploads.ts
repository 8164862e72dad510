/** Files on their way to the desk: what each becomes, how far they are, and what was wrong with which. */
import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { type Api, data } from "../../api/client";
import { ApiError } from "../../api/errors";
import { meQuery } from "../../api/queries";
import type { ContentType } from "../../api/types";
import { useApi } from "../../app/context";
import { toast } from "../../components/Toasts";
import { isDocumentFile, isTextFile } from "./types";

export type UploadState = "waiting" | "sending" | "added" | "failed";

export interface Upload {
  key: number;
  file: File;
  state: UploadState;
  error?: unknown;
}

/** Fewer than the service takes of one user, so that another tab has room. */
const LANES = 2;
const TRIES = 3;

/** Every file becomes a content of its own; one that fails does not stop the others. */
export function useUploads(type: ContentType) {
  const api = useApi();
  const queries = useQueryClient();
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const next = useRef(0);

  const set = (key: number, change: Partial<Upload>) => setUploads((all) => all.map((one) => (one.key === key ? { ...one, ...change } : one)));

  const take = async (files: readonly File[]): Promise<void> => {
    if (files.length === 0) return;
    const batch = files.map((file): Upload => ({ key: next.current++, file, state: "waiting" }));
    setUploads((all) => [...all.filter(isUnderWay), ...batch]);
    const most = await greatest(() => queries.query({ ...meQuery(api), staleTime: "static" }));
    const pending = batch.values();
    let added = 0;
    const lane = async () => {
      for (const upload of pending) {
        set(upload.key, { state: "sending" });
        try {
          await send(api, type, upload.file, most);
          added += 1;
          set(upload.key, { state: "added" });
          void queries.invalidateQueries({ queryKey: ["contents"] });
        } catch (error) {
          set(upload.key, { state: "failed", error });
        }
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    if (added) toast.done(`${added} ${added === 1 ? "file" : "files"} added.`);
    await Promise.all([queries.invalidateQueries({ queryKey: ["contents"] }), queries.invalidateQueries({ queryKey: ["documents"] })]);
  };

  return { uploads, take, clear: () => setUploads((all) => all.filter(isUnderWay)) };
}

export function isUnderWay({ state }: Upload): boolean {
  return state === "waiting" || state === "sending";
}

async function greatest(me: () => Promise<{ limits: { upload_bytes: number } }>): Promise<number> {
  try {
    return (await me()).limits.upload_bytes;
  } catch {
    // The service says it then, after the whole file was sent.
    return Infinity;
  }
}

/** Put one file on the desk: as a document that the service reads, or as a text that is one already. */
export async function send(api: Api, type: ContentType, file: File, most: number): Promise<void> {
  if (file.size > most) throw new Error("The file is larger than an upload may be.");
  if (type === "input_document" && isDocumentFile(file)) return sendDocument(api, file);
  if (!isTextFile(file)) throw new Error(type === "input_document" ? "Files of this kind cannot be read." : "This is no text file. PDF and Word files can be documents.");
  const body = await textOf(file);
  await data(api.client.POST("/api/contents", { body: { name: file.name.slice(0, 200), type, body } }));
}

async function sendDocument(api: Api, file: File): Promise<void> {
  const form = new FormData();
  form.set("file", file, file.name);
  const key = crypto.randomUUID();
  for (let attempt = 1; ; attempt++) {
    try {
      await data(
        api.client.POST("/api/documents", {
          params: { header: { "Idempotency-Key": key } },
          body: { file: file.name },
          // The description has a file as a string; the form has the file itself.
          bodySerializer: () => form,
        }),
      );
      return;
    } catch (error) {
      const wait = error instanceof ApiError && error.isPassing ? (error.retryAfterSeconds ?? 2) : undefined;
      if (wait === undefined || attempt === TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, wait * 1000));
    }
  }
}

async function textOf(file: File): Promise<string> {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    throw new Error("This is no UTF-8 text.");
  }
}
