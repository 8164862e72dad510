/** Keeps the prompts of a comparison in the library while they are written, and fetches them after a reload. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { data } from "carrel-sdk";
import type { Api } from "../../../api/client";
import { queryKeys } from "../../../api/queryKeys";
import { useApi } from "../../../app/context";
import { variablesFor } from "../../../lib/placeholders";
import { useSettled } from "../../../lib/useSettled";
import { nameOf, type Prompt } from "./setup";

const QUIET_MS = 900;

/** The prompt as it is after its text was kept: under its own id, or under a new one where others use the old one. */
export async function keepPrompt(api: Api, prompt: Prompt): Promise<Prompt> {
  const { text, contentId, isShared } = prompt;
  if (contentId && prompt.kept === text) return prompt;
  const body = {
    name: nameOf(text),
    type: "generation_instructions" as const,
    body: text,
    variables: variablesFor(text, {}),
  };
  const saved = await data(
    contentId && !isShared
      ? api.client.PUT("/api/contents/{content_id}", { params: { path: { content_id: contentId } }, body })
      : api.client.POST("/api/contents", { body }),
  );
  return { text, contentId: saved.id, kept: text };
}

export async function fetchPrompt(api: Api, contentId: string, isShared: boolean): Promise<Prompt> {
  const params = { path: { content_id: contentId } };
  const { body } = await data(api.client.GET("/api/contents/{content_id}", { params }));
  return { text: body, contentId, kept: body, isShared };
}

/** `onPrompt` replaces a prompt by its number; one whose text has changed meanwhile only learns its id. */
export function usePrompts(
  prompts: readonly Prompt[],
  onPrompt: (number: number, change: Partial<Prompt>) => void,
): void {
  const api = useApi();
  const queries = useQueryClient();
  const settled = useSettled(prompts, QUIET_MS);
  useEffect(() => {
    if (settled !== prompts) return;
    settled.forEach((prompt, number) => {
      if (!prompt.text && prompt.contentId && prompt.kept === undefined)
        void fetchPrompt(api, prompt.contentId, prompt.isShared ?? false)
          .then((found) => onPrompt(number, found))
          // It was deleted meanwhile; the page begins with an empty one.
          .catch(() => onPrompt(number, { contentId: undefined, kept: "" }));
      else if (prompt.text.trim() && prompt.kept !== prompt.text)
        void keepPrompt(api, prompt)
          .then(({ contentId, kept }) => {
            onPrompt(number, { contentId, kept, isShared: false });
            void queries.invalidateQueries({ queryKey: queryKeys.contents.all });
            // The text is another one under the same id, and with it what a run takes and which names are open.
            void queries.invalidateQueries({ queryKey: queryKeys.rehearsals });
          })
          // It is kept once more when the comparison starts, which tells what is wrong.
          .catch(() => undefined);
    });
    // Only when the prompts have come to rest.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [settled, prompts]);
}
