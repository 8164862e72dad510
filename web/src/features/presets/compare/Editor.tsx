import { useQuery } from "@tanstack/react-query";
import { type ComponentProps, useEffect, useMemo, useRef } from "react";
import { faultsAt, isMissing, isOutdated } from "carrel-sdk";
import { connectionsQuery } from "../../../api/github";
import { contentChoiceQuery } from "../../../api/queries";
import type { Preset } from "../../../api/types";
import { useDefaultJudges } from "../../../api/useDefaultJudges";
import { useModels } from "../../../api/useModels";
import { useApi, useFormats } from "../../../app/context";
import { ErrorNote, Note } from "../../../components/Feedback";
import { Page } from "../../../components/Page";
import { goTo, useGoToFault } from "../../../lib/goTo";
import type { Saved } from "../../../lib/useDraft";
import { useNow } from "../../../lib/useNow";
import { chosenOf, faultsOf, withRows } from "../draft";
import { KeptGuard, KeptSign } from "../KeptSign";
import { deletePrompts } from "../drafts";
import { type Opened, useKeeping } from "../useKeeping";
import { useRehearsal } from "../useRehearsal";
import { CandidatesPart } from "./CandidatesPart";
import { DocumentsStep } from "./DocumentsStep";
import { ModelsStep } from "./ModelsStep";
import { MoreStep } from "./MoreStep";
import { SAMPLE_MODELS, SAMPLE_TASK } from "./sample";
import {
  EMPTY,
  keptOf,
  type KeptTable,
  missingIn,
  modelsOf,
  nameOf,
  needsTask,
  presetOf,
  type Setup,
  type TriedInput,
  withTable,
} from "./setup";
import { StartCard } from "./StartCard";
import { StoredActions, StoredNotes } from "./Stored";
import { TaskStep } from "./TaskStep";
import { TrialPart } from "./TrialPart";
import { useSample } from "./useCompare";
import { useActions, useSetup } from "./useEditor";
import { usePrompts } from "./usePrompts";
import { useTry } from "./useTrial";

const NO_MODELS: readonly string[] = [];

interface Props {
  head: Omit<ComponentProps<typeof Page>, "children">;
  opened: Opened;
  saved: Saved<Setup>;
  /** The preset that is changed; nothing for a new comparison. */
  stored?: Preset | undefined;
  /** Run the preset that was saved. */
  onRun?: (preset: Preset) => void;
  onAnew?: () => void;
  /** The part of the page that the address names. */
  part?: string | undefined;
}

/** The editor of a comparison, a new one and a stored one alike: documents, task, models, and the rest folded away. */
export function Editor({ head, opened, saved, stored, onRun, onAnew, part }: Props) {
  const api = useApi();
  const known = useModels();
  const documents = useQuery(contentChoiceQuery(api, "input_document"));
  const connections = useQuery(connectionsQuery(api));
  const { draft, setup, change, setPrompt, setCandidates } = useSetup(opened, saved);
  const { isDirty } = draft;
  const [task] = setup.prompts;
  // A prompt that is still to be fetched has no words yet.
  const name = setup.name.trim() || (task?.text ? nameOf(task.text) : (opened.kept?.value.name ?? nameOf("")));
  const keeping = useKeeping(
    opened,
    isDirty
      ? {
          name,
          ...(stored ? { form: "preset", preset_id: stored.id } : { form: "comparison" }),
          body: { ...keptOf(setup), ...(draft.etag ? { etag: draft.etag } : {}) },
        }
      : undefined,
  );
  usePrompts(setup.prompts, setPrompt);
  const judges = useDefaultJudges(modelsOf(setup));
  const preset = useMemo(() => presetOf(setup, judges), [setup, judges]);
  // Twenty cards of candidates have them: a key in another field draws none of these anew.
  const chosen = useMemo(() => chosenOf(documents.data ?? [], setup.documents), [documents.data, setup.documents]);
  const faults = faultsOf(preset, {
    models: known.isPending ? undefined : known.models,
    documents: documents.data,
    connections: connections.data?.items,
  });
  const missing = missingIn(setup, false, judges, faults);
  const isKept =
    !needsTask(setup) || setup.prompts.every(({ text, contentId, kept }) => contentId !== undefined && kept === text);
  const hasJudges = setup.more.comparison !== undefined || judges !== undefined;
  const rehearsal = useRehearsal(preset, missing.length === 0 && isKept && hasJudges);
  const tries = useTry();
  const sample = useSample();
  const { compare, start, saves, save, openSaved, run } = useActions({ setup, judges, stored, draft, keeping, onRun });
  const beginAnew = () => {
    keeping.drop();
    void deletePrompts(api, setup.prompts);
    onAnew?.();
  };
  const judgesOfAnswers = useDefaultJudges(NO_MODELS);
  const decide = (table: KeptTable) => {
    const decided = withTable({ ...EMPTY, name: table.name }, table);
    draft.set(decided);
    start(decided, judgesOfAnswers);
  };
  const tryOn = (on: TriedInput) =>
    tries.mutate(
      { setup, on },
      {
        onSuccess: ({ run, prompts }) => {
          // One of the library that was not changed stays the library's.
          prompts.forEach(({ contentId, kept, isShared = false }, number) =>
            setPrompt(number, { contentId, kept, isShared }),
          );
          change({ trial: run });
        },
      },
    );
  const takeSample = () =>
    sample.mutate(undefined, {
      onSuccess: (ids) =>
        draft.set((before) => ({
          ...before,
          name: before.name || "Sample: support threads",
          documents: ids,
          prompts: before.prompts.some(({ text }) => text) ? before.prompts : [{ text: SAMPLE_TASK }],
          models: before.models.length ? before.models : SAMPLE_MODELS,
        })),
    });
  const error = compare.error ?? saves.error ?? tries.error ?? rehearsal.error;
  const at = (path: string) => [
    ...new Set([...(faults.has(path) ? [faults.get(path) ?? ""] : []), ...faultsAt(error, path)]),
  ];
  const grid = useRef<HTMLDivElement>(null);
  useGoToFault(grid, compare.error ?? saves.error ?? tries.error);
  // A link from elsewhere may name the part that it is about; the page is whole once its lists are here.
  const isWhole = !known.isPending && !documents.isPending;
  useEffect(() => {
    if (part && isWhole) goTo(grid.current, part);
  }, [part, isWhole]);
  const canStart = (stored && !isDirty) || (missing.length === 0 && hasJudges && !draft.isBehind);
  const words = !stored ? "Compare" : isDirty ? "Save and run" : "Run";
  const canSave = isDirty && !draft.isBehind && !saves.isPending && missing.length === 0 && hasJudges;
  return (
    <Page
      {...head}
      badge={<KeptSign keeping={keeping} />}
      actions={
        stored && (
          <StoredActions
            presetId={stored.id}
            isDirty={isDirty}
            isSaving={saves.isPending}
            onSave={canSave ? () => save() : undefined}
            start={words}
            onRun={canStart ? run : undefined}
            onDiscard={() => {
              void deletePrompts(api, setup.prompts);
              draft.takeOther();
            }}
          />
        )
      }
    >
      <KeptGuard keeping={keeping} onSave={stored && canSave ? () => save() : undefined} />
      {!stored && opened.kept && isDirty && <Begun at={opened.kept.value.updated_at} onAnew={beginAnew} />}
      {stored && (
        <StoredNotes
          draft={draft}
          saved={saved}
          preset={preset}
          error={saves.error}
          isSaving={saves.isPending}
          onSaved={openSaved}
        />
      )}
      <div className="editor-grid" ref={grid}>
        <div className="stack">
          <DocumentsStep
            documents={documents.data ?? []}
            chosen={setup.documents}
            onChange={(chosen) => change({ documents: chosen })}
            onSample={takeSample}
            isTakingSample={sample.isPending}
            rows={setup.rows}
            onRows={(rows, answers) =>
              change(({ candidates }) => ({
                rows,
                answers,
                ...(candidates ? { candidates: withRows(preset, rows ?? null).generation.candidates } : {}),
              }))
            }
            onTable={(table) => draft.set((before) => withTable(before, table))}
            onDecide={decide}
            judges={judgesOfAnswers}
            at={at}
          />
          {sample.isError && <ErrorNote error={sample.error} />}
          <TaskStep
            prompts={setup.prompts}
            hasRows={setup.rows !== undefined}
            onPrompt={setPrompt}
            // Candidates one by one have instructions of their own.
            onAdd={
              setup.candidates
                ? undefined
                : () => change({ prompts: [...setup.prompts, { text: setup.prompts.at(-1)?.text ?? "" }] })
            }
            onRemove={(number) => {
              void deletePrompts(api, setup.prompts.slice(number, number + 1));
              change({ prompts: setup.prompts.filter((_, at) => at !== number), off: [] });
            }}
          />
          <ModelsStep setup={setup} known={known} onChange={change}>
            <CandidatesPart
              preset={preset}
              isOneByOne={setup.candidates !== undefined}
              at={at}
              faults={faults}
              error={error}
              models={known.models}
              documents={chosen}
              onChange={setCandidates}
            />
          </ModelsStep>
          <MoreStep
            preset={preset}
            name={setup.name}
            onName={(name) => change({ name })}
            change={(part) => change(({ more }) => ({ more: { ...more, ...part } }))}
            at={at}
            models={known.models}
            documents={documents.data ?? []}
            connections={connections.data?.items ?? []}
          />
          {setup.trial && <TrialPart key={setup.trial} runId={setup.trial} isNew={tries.isSuccess} />}
        </div>
        <StartCard
          setup={setup}
          documents={documents.data ?? []}
          rehearsal={rehearsal}
          missing={missing}
          tries={tries}
          onTry={tryOn}
          starts={compare}
          canStart={canStart}
          start={words}
          onStart={run}
          saves={isOutdated(saves.error) || isMissing(saves.error) ? { ...saves, error: null } : saves}
          onSave={stored ? undefined : () => save()}
          onGo={(part) => goTo(grid.current, part)}
        />
      </div>
    </Page>
  );
}

/** Whoever comes back finds what was begun, so that drafts do not pile up. */
function Begun({ at, onAnew }: { at: string; onAnew: () => void }) {
  const formats = useFormats();
  return (
    <Note>
      <p>
        You began this {formats.ago(at, useNow(60_000))}. Go on with it, or{" "}
        <button type="button" className="link" onClick={onAnew}>
          delete it and begin anew
        </button>
        .
      </p>
    </Note>
  );
}
