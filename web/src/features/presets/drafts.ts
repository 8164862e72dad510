/** Unfinished set-ups that are given up, with what was kept in the library for them alone. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { data, isMissing } from "carrel-sdk";
import type { Api } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";
import { useApi } from "../../app/context";
import { toast } from "../../components/Toasts";
import type { Prompt, Setup } from "./compare/setup";

export function useDeleteDrafts() {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (ids: readonly string[]) => Promise.all(ids.map((id) => deleteDraft(api, id))),
    onSettled: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: queryKeys.drafts }),
        queries.invalidateQueries({ queryKey: queryKeys.contents.all }),
      ]),
    onError: toast.failed,
  });
}

async function deleteDraft(api: Api, id: string): Promise<void> {
  const params = { path: { draft_id: id } };
  try {
    const { body } = await data(api.client.GET("/api/preset-drafts/{draft_id}", { params }));
    await data(api.client.DELETE("/api/preset-drafts/{draft_id}", { params }));
    await deletePrompts(api, (body as Partial<Setup>).prompts ?? []);
  } catch (error) {
    // Another tab was quicker.
    if (!isMissing(error)) throw error;
  }
}

/** The service keeps a prompt that something else uses by now. */
export async function deletePrompts(api: Api, prompts: readonly Prompt[]): Promise<void> {
  for (const { contentId, isShared } of prompts)
    if (contentId && !isShared)
      await api.client.DELETE("/api/contents/{content_id}", { params: { path: { content_id: contentId } } });
}
