/** Keeps what is unfinished on a page as a draft in the workspace, a moment after each change. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { ApiError, data, ifMatch, isBroken, isMissing, isOutdated, type Tagged, tagged } from "carrel-sdk";
import type { Api } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";
import type { DraftIn, KeptDraft } from "../../api/types";
import { useApi } from "../../app/context";
import { toast } from "../../components/Toasts";
import { useSettled } from "../../lib/useSettled";

const KEY = ["draft"];
const QUIET_MS = 1000;
const RETRIES = 30;
const RETRY_MS = 2000;

/** The draft with which a page begins. */
export interface Opened {
  id: string;
  /** Nothing if there is none yet. */
  kept: Tagged<KeptDraft> | undefined;
}

/**
 * The draft of this id, the one that changes this preset, or the last one of a new comparison; a new one if there is none.
 * It is read once a visit.
 */
export function openedDraftQuery(
  api: Api,
  wanted: { draftId: string } | { presetId: string } | { form: "comparison" },
) {
  return queryOptions({
    queryKey: queryKeys.openedDraft(wanted),
    queryFn: async ({ signal, client }): Promise<Opened> => {
      // Whoever comes back at once finds what was entered last.
      const underWay = client.getMutationCache().findAll({ mutationKey: KEY, status: "pending" });
      await Promise.allSettled(underWay.map((mutation) => mutation.continue()));
      const { items } = await data(api.client.GET("/api/preset-drafts", { signal }));
      const id = items.find((one) => {
        if ("draftId" in wanted) return one.id === wanted.draftId;
        return "form" in wanted ? one.form === wanted.form : one.preset_id === wanted.presetId;
      })?.id;
      if (!id) return { id: "draftId" in wanted ? wanted.draftId : crypto.randomUUID(), kept: undefined };
      const params = { path: { draft_id: id } };
      return { id, kept: await tagged(api.client.GET("/api/preset-drafts/{draft_id}", { params, signal })) };
    },
    staleTime: Infinity,
    gcTime: 0,
  });
}

/** What there is to keep. */
export type Unfinished = Omit<DraftIn, "body"> & { body: object };

export interface Keeping {
  /** Nothing to keep; not sent yet or under way; kept; refused. */
  state: "none" | "waiting" | "kept" | "failed";
  error: Error | null;
  /** Send it once more after a refusal; if that was because of another version, go over it. */
  again: () => void;
  /** It is finished: remove the draft for good, whatever the page still shows, or hears late. */
  drop: () => void;
}

/** `draft` is what there is to keep now; once there is nothing unfinished any more, the draft is removed. */
export function useKeeping({ id, kept }: Opened, draft: Unfinished | undefined): Keeping {
  const api = useApi();
  const queries = useQueryClient();
  const text = draft && JSON.stringify(draft);
  // One that says nothing any more, because its preset was saved elsewhere, is removed.
  const [first] = useState(kept && (text ?? ""));
  const asked = useRef(first);
  const etag = useRef(kept?.etag);
  const isOver = useRef(false);
  const { mutate, ...sync } = useMutation({
    mutationKey: KEY,
    // One after the other, also after the page was left.
    scope: { id: `draft ${id}` },
    mutationFn: async (wanted: string | undefined) => {
      const path = { draft_id: id };
      if (wanted !== undefined) {
        const params = { path, header: ifMatch(etag.current) };
        const body = JSON.parse(wanted) as DraftIn;
        etag.current = (await tagged(api.client.PUT("/api/preset-drafts/{draft_id}", { params, body }))).etag;
      } else if (etag.current) {
        await data(api.client.DELETE("/api/preset-drafts/{draft_id}", { params: { path } }));
        etag.current = undefined;
      }
    },
    retry: (count, error) => count < RETRIES && (error instanceof ApiError ? error.isPassing : isBroken(error)),
    retryDelay: RETRY_MS,
    onError: (error) => {
      if (isLeft.current && !isMissing(error)) toast.failed(error);
    },
    onSettled: () => queries.invalidateQueries({ queryKey: queryKeys.drafts }),
  });
  const send = (wanted: string | undefined) => {
    asked.current = wanted;
    mutate(wanted);
  };
  const settled = useSettled(text, text === undefined ? 0 : QUIET_MS);
  useEffect(() => {
    if (!isOver.current && settled === text && text !== asked.current) send(text);
    // Only when the page has come to rest.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [settled, text]);
  const latest = useRef(text);
  const isLeft = useRef(false);
  useEffect(() => {
    latest.current = text;
  }, [text]);
  useEffect(() => {
    isLeft.current = false;
    return () => {
      isLeft.current = true;
      // Who leaves the page within the moment loses nothing.
      if (!isOver.current && latest.current !== asked.current) mutate(latest.current);
    };
  }, [mutate]);
  const isKept = sync.isIdle ? text === first : sync.isSuccess && sync.variables === text;
  return {
    state: text === undefined ? "none" : sync.isError ? "failed" : isKept ? "kept" : "waiting",
    error: sync.error,
    again: () => {
      if (isOutdated(sync.error)) etag.current = undefined;
      send(latest.current);
    },
    drop: () => {
      isOver.current = true;
      mutate(undefined);
    },
  };
}
