import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Navigate, useNavigate } from "@tanstack/react-router";
import { useMemo, useRef, useState } from "react";
import { faultsAt } from "carrel-sdk";
import { connectionsQuery } from "../../../api/github";
import { contentChoiceQuery } from "../../../api/queries";
import type { DefaultJudges } from "../../../api/types";
import { useDefaultJudges } from "../../../api/useDefaultJudges";
import { useModels } from "../../../api/useModels";
import { useApi, useFormats } from "../../../app/context";
import { useSettings } from "../../../app/settings";
import { ErrorNote, Note } from "../../../components/Feedback";
import { Page } from "../../../components/Page";
import { QueryView } from "../../../components/QueryView";
import { goTo, useGoToFault } from "../../../lib/goTo";
import { same } from "../../../lib/useDraft";
import { useNow } from "../../../lib/useNow";
import { KeptGuard, KeptSign } from "../KeptSign";
import { deletePrompts } from "../drafts";
import { type Opened, openedDraftQuery, useKeeping } from "../useKeeping";
import { useRehearsal } from "../useRehearsal";
import { DocumentsStep } from "./DocumentsStep";
import { ModelsStep } from "./ModelsStep";
import { MoreStep } from "./MoreStep";
import { SAMPLE_MODELS, SAMPLE_TASK } from "./sample";
import {
  beginning,
  EMPTY,
  keptOf,
  type KeptTable,
  missingIn,
  nameOf,
  presetOf,
  type Prompt,
  type Setup,
  type TriedInput,
  withTable,
} from "./setup";
import { StartCard } from "./StartCard";
import { TaskStep } from "./TaskStep";
import { TrialPart } from "./TrialPart";
import { useCompare, useSample } from "./useCompare";
import { usePrompts } from "./usePrompts";
import { useTry } from "./useTrial";

const route = getRouteApi("/compare");
const NO_MODELS: readonly string[] = [];
const HEAD = {
  title: "New comparison",
  intro: "Bring documents or a table, say what is to be done, and pick the models: you learn which one does it best.",
  back: { to: "/runs", label: "Comparisons" },
} as const;

/** One page from files to a running comparison; everything with a good default is folded away on it. */
export function ComparePage() {
  const { draft: draftId } = route.useSearch();
  const settings = useSettings();
  const opened = useQuery(openedDraftQuery(useApi(), draftId ? { draftId } : { form: "comparison" }));
  // The address names the draft, so that a reload goes on with it.
  if (opened.data && !draftId) return <Navigate to="/compare" search={{ draft: opened.data.id }} replace />;
  if (opened.data && !settings.isPending)
    return <Comparison key={draftId} opened={opened.data} begin={beginning(settings.data?.value)} />;
  return (
    <Page {...HEAD}>
      <QueryView query={opened}>{() => null}</QueryView>
    </Page>
  );
}

function Comparison({ opened, begin }: { opened: Opened; begin: Setup }) {
  const api = useApi();
  const navigate = useNavigate();
  const known = useModels();
  const documents = useQuery(contentChoiceQuery(api, "input_document"));
  const connections = useQuery(connectionsQuery(api));
  const [setup, setSetup] = useState<Setup>({ ...begin, ...opened.kept?.value.body });
  const change = (part: Partial<Setup>) => setSetup((before) => ({ ...before, ...part }));
  const setPrompt = (number: number, part: Partial<Prompt>) =>
    setSetup((before) => ({
      ...before,
      prompts: before.prompts.map((prompt, at) => (at === number ? { ...prompt, ...part } : prompt)),
    }));
  const [task] = setup.prompts;
  // A prompt that is still to be fetched has no words yet.
  const name = setup.name.trim() || (task?.text ? nameOf(task.text) : (opened.kept?.value.name ?? nameOf("")));
  const keeping = useKeeping(
    opened,
    same(setup, begin) ? undefined : { name, form: "comparison", body: { ...keptOf(setup) } },
  );
  usePrompts(setup.prompts, setPrompt);
  const judges = useDefaultJudges(setup.models);
  const preset = useMemo(() => presetOf(setup, judges), [setup, judges]);
  const missing = missingIn(setup, false, judges);
  const isKept =
    !setup.models.length ||
    setup.prompts.every(({ text, contentId, kept }) => contentId !== undefined && kept === text);
  const rehearsal = useRehearsal(preset, missing.length === 0 && isKept && Boolean(judges ?? setup.more.comparison));
  const { compare, saves } = useCompare();
  const tries = useTry();
  const sample = useSample();
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
  const save = () =>
    saves.mutate(
      { setup, judges },
      {
        onSuccess: ({ id }) => {
          keeping.drop();
          void navigate({ to: "/presets/$presetId", params: { presetId: id } });
        },
      },
    );
  const beginAnew = () => {
    keeping.drop();
    void deletePrompts(api, setup.prompts);
    void navigate({ to: "/compare", search: { draft: crypto.randomUUID() } });
  };
  const judgesOfAnswers = useDefaultJudges(NO_MODELS);
  const decide = (table: KeptTable) => {
    const decided = withTable({ ...EMPTY, name: table.name }, table);
    setSetup(decided);
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
        setSetup((before) => ({
          ...before,
          name: before.name || "Sample: support threads",
          documents: ids,
          prompts: before.prompts.some(({ text }) => text) ? before.prompts : [{ text: SAMPLE_TASK }],
          models: before.models.length ? before.models : SAMPLE_MODELS,
        })),
    });
  const error = compare.error ?? saves.error ?? tries.error ?? rehearsal.error;
  const grid = useRef<HTMLDivElement>(null);
  useGoToFault(grid, compare.error ?? saves.error ?? tries.error);
  return (
    <Page {...HEAD} badge={<KeptSign keeping={keeping} />}>
      <KeptGuard keeping={keeping} />
      {opened.kept && !same(setup, begin) && <Begun at={opened.kept.value.updated_at} onAnew={beginAnew} />}
      <div className="editor-grid" ref={grid}>
        <div className="stack">
          <DocumentsStep
            documents={documents.data ?? []}
            chosen={setup.documents}
            onChange={(chosen) => change({ documents: chosen })}
            onSample={takeSample}
            isTakingSample={sample.isPending}
            rows={setup.rows}
            onRows={(rows, answers) => change({ rows, answers })}
            onTable={(table) => setSetup((before) => withTable(before, table))}
            onDecide={decide}
            judges={judgesOfAnswers}
            at={(path) => faultsAt(error, path)}
          />
          {sample.isError && <ErrorNote error={sample.error} />}
          <TaskStep
            prompts={setup.prompts}
            hasRows={setup.rows !== undefined}
            onPrompt={setPrompt}
            onAdd={() => change({ prompts: [...setup.prompts, { text: setup.prompts.at(-1)?.text ?? "" }] })}
            onRemove={(number) => {
              void deletePrompts(api, setup.prompts.slice(number, number + 1));
              change({ prompts: setup.prompts.filter((_, at) => at !== number), off: [] });
            }}
          />
          <ModelsStep setup={setup} known={known} onChange={change} />
          <MoreStep
            preset={preset}
            name={setup.name}
            onName={(name) => change({ name })}
            change={(part) => change({ more: { ...setup.more, ...part } })}
            at={(path) => faultsAt(error, path)}
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
          judges={judges}
          tries={tries}
          onTry={tryOn}
          starts={compare}
          onStart={() => start(setup, judges)}
          saves={saves}
          onSave={save}
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
