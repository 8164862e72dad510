/** Uploads: what each file becomes, how much of it was sent, and why a file failed. */
import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { ApiError, data, isAbort } from "carrel-sdk";
import type { Api } from "../../api/client";
import { meQuery } from "../../api/queries";
import { queryKeys } from "../../api/queryKeys";
import type { ContentType, Document } from "../../api/types";
import { useApi } from "../../app/context";
import { toast } from "../Toasts";
import { isDocumentFile, isTextFile } from "../../lib/contentTypes";

/** `reading`: all of it is there, and the service makes a text of it. */
export type UploadState = "waiting" | "sending" | "reading" | "added" | "failed" | "stopped";

export interface Upload {
  key: number;
  file: File;
  state: UploadState;
  /** How much of the file went out, between 0 and 1. */
  sent?: number;
  error?: unknown;
}

/** Fewer than the service takes of one user, so that another tab has room. */
const LANES = 2;
const TRIES = 3;

/** Every file becomes a content of its own; one that fails does not stop the others. `onAdded` is told the new ids. */
export function useUploads(type: ContentType, onAdded?: (contentIds: readonly string[]) => void) {
  const api = useApi();
  const queries = useQueryClient();
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const next = useRef(0);
  const stopping = useRef(new AbortController());

  const set = (key: number, change: Partial<Upload>) =>
    setUploads((all) => all.map((one) => (one.key === key ? { ...one, ...change } : one)));

  const take = async (files: readonly File[]): Promise<void> => {
    if (files.length === 0) return;
    const batch = files.map((file): Upload => ({ key: next.current++, file, state: "waiting" }));
    setUploads((all) => [...all.filter(isUnderWay), ...batch]);
    const most = await greatest(() => queries.query({ ...meQuery(api), staleTime: "static" }));
    const pending = batch.values();
    const { signal } = stopping.current;
    const added: string[] = [];
    const lane = async () => {
      for (const upload of pending) {
        if (signal.aborted) {
          set(upload.key, { state: "stopped" });
          continue;
        }
        set(upload.key, { state: "sending", sent: 0 });
        try {
          const contentId = await send(api, type, upload.file, {
            most,
            signal,
            onSent: (sent) => set(upload.key, sent < 1 ? { sent } : { sent, state: "reading" }),
          });
          added.push(contentId);
          set(upload.key, { state: "added" });
          void queries.invalidateQueries({ queryKey: queryKeys.contents.all });
        } catch (error) {
          set(upload.key, isAbort(error) ? { state: "stopped" } : { state: "failed", error });
        }
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    if (added.length && !onAdded) toast.done(`${added.length} ${added.length === 1 ? "file" : "files"} added.`);
    await Promise.all([
      queries.invalidateQueries({ queryKey: queryKeys.contents.all }),
      queries.invalidateQueries({ queryKey: queryKeys.documents }),
    ]);
    // Once the list of texts has them, too.
    if (added.length) onAdded?.(added);
  };

  const stop = () => {
    stopping.current.abort();
    stopping.current = new AbortController();
  };

  return { uploads, take, stop, clear: () => setUploads((all) => all.filter(isUnderWay)) };
}

export function isUnderWay({ state }: Upload): boolean {
  return state === "waiting" || state === "sending" || state === "reading";
}

async function greatest(me: () => Promise<{ limits: { upload_bytes: number } }>): Promise<number> {
  try {
    return (await me()).limits.upload_bytes;
  } catch {
    // Then the service reports the size, after the whole file was sent.
    return Infinity;
  }
}

export interface How {
  /** The greatest number of bytes that the service takes. */
  most: number;
  signal?: AbortSignal;
  onSent?: (share: number) => void;
}

const MIB = 1024 * 1024;

/** Upload one file: as a document that the service reads, or as a text as it stands. The id of the content. */
export async function send(api: Api, type: ContentType, file: File, how: How): Promise<string> {
  const { most, signal } = how;
  if (file.size > most)
    throw new Error(
      `The file is larger than the ${most < MIB ? `${most} bytes` : `${Math.floor(most / MIB)} MiB`} that an upload may be. It was not sent.`,
    );
  if (file.size === 0) throw new Error("The file is empty.");
  if (type === "input_document" && isDocumentFile(file)) return sendDocument(api, file, how);
  if (!isTextFile(file))
    throw new Error(
      type === "input_document"
        ? "Files of this kind cannot be read."
        : "This is no text file. PDF and Word files can be documents.",
    );
  const body = await textOf(file);
  const made = await data(
    api.client.POST("/api/contents", { body: { name: nameOf(file), type, body }, ...(signal ? { signal } : {}) }),
  );
  return made.id;
}

/** The name that a text gets; a character is never cut in two. */
function nameOf(file: File): string {
  return Array.from(file.name).slice(0, 200).join("");
}

async function sendDocument(api: Api, file: File, { signal, onSent }: How): Promise<string> {
  const form = new FormData();
  form.set("file", file, file.name);
  const wanted = {
    path: "/api/documents",
    body: form,
    headers: { "Idempotency-Key": crypto.randomUUID() },
    onSent: (sent: number, total: number) => onSent?.(total ? sent / total : 1),
    ...(signal ? { signal } : {}),
  };
  for (let attempt = 1; ; attempt++) {
    try {
      return (await api.upload<Document>(wanted)).content_id;
    } catch (error) {
      const wait = error instanceof ApiError && error.isPassing ? (error.retryAfterSeconds ?? 2) : undefined;
      if (wait === undefined || attempt === TRIES || signal?.aborted) throw error;
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
