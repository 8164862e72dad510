/** The state of the editor, and what its buttons do with it. */
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { isOutdated } from "carrel-sdk";
import { queryKeys } from "../../../api/queryKeys";
import type { Candidate, DefaultJudges, Preset } from "../../../api/types";
import { type Change, changed, type Draft, type Saved, useDraft } from "../../../lib/useDraft";
import { draftOf } from "../draft";
import type { Keeping, Opened } from "../useKeeping";
import { begunOf, candidatesOf, keptOf, type Prompt, type Setup, setupOf } from "./setup";
import { useCompare, useSaves } from "./useCompare";

/** The setup as it is saved and as it is on the page, and what changes it. */
export function useSetup(opened: Opened, saved: Saved<Setup>) {
  const [begun] = useState(() => begunOf(opened.kept?.value.body, saved));
  const draft = useDraft(saved, begun.value, begun.etag, keptOf);
  const change = (part: Change<Partial<Setup>>) =>
    draft.set((before) => ({ ...before, ...changed<Partial<Setup>>(before, part) }));
  const setPrompt = (number: number, part: Partial<Prompt>) =>
    change(({ prompts = [] }) => ({
      prompts: prompts.map((prompt, at) => (at === number ? { ...prompt, ...part } : prompt)),
    }));
  // Cards are not drawn anew for every change, so what they do begins with the candidates of that moment.
  const setCandidates = (next: (before: Candidate[]) => Candidate[]) =>
    draft.set((before) => ({
      ...before,
      candidates: next(candidatesOf(before)),
      prompts: before.prompts.slice(0, 1),
      off: [],
    }));
  return { draft, setup: draft.value, change, setPrompt, setCandidates };
}

interface Wanted {
  setup: Setup;
  judges: DefaultJudges | undefined;
  stored: Preset | undefined;
  draft: Draft<Setup>;
  keeping: Keeping;
  /** Run the preset that was saved. */
  onRun: ((preset: Preset) => void) | undefined;
}

/** Save the preset, a new one or a version of one, and start a run. */
export function useActions({ setup, judges, stored, draft, keeping, onRun }: Wanted) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const compare = useCompare();
  const saves = useSaves(stored?.id, draft.etag);
  const save = (then?: (preset: Preset) => void) =>
    saves.mutate(
      { setup, judges },
      {
        onSuccess: (now) => {
          draft.settle(setup, { value: setupOf(draftOf(now.value)), etag: now.etag });
          if (!stored) openSaved(now.value.id);
          then?.(now.value);
        },
        // Somebody else saved a version: fetch it, so that the user can choose between the two.
        onError: (error) =>
          stored &&
          isOutdated(error) &&
          void queries.invalidateQueries({ queryKey: queryKeys.preset.one(stored.id), exact: true }),
      },
    );
  const openSaved = (presetId: string) => {
    keeping.drop();
    void navigate({ to: "/presets/$presetId", params: { presetId }, ignoreBlocker: true });
  };
  const start = (setup: Setup, judges: DefaultJudges | undefined) =>
    compare.mutate(
      { setup, judges },
      {
        onSuccess: (run) => {
          keeping.drop();
          void navigate({ to: "/runs/$runId", params: { runId: run.id } });
        },
      },
    );
  const run = () => {
    if (!stored || !onRun) start(setup, judges);
    else if (draft.isDirty) save(onRun);
    else onRun(stored);
  };
  return { compare, start, saves, save, openSaved, run };
}
