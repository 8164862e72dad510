import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useMemo, useRef, useState } from "react";
import { faultsAt } from "carrel-sdk";
import { connectionsQuery } from "../../../api/github";
import { contentChoiceQuery, draftsQuery } from "../../../api/queries";
import type { DefaultJudges, DraftSummary } from "../../../api/types";
import { useDefaultJudges } from "../../../api/useDefaultJudges";
import { useModels } from "../../../api/useModels";
import { useApi } from "../../../app/context";
import { ErrorNote, Note } from "../../../components/Feedback";
import { Page } from "../../../components/Page";
import { QueryView } from "../../../components/QueryView";
import { goTo, useGoToFault } from "../../../lib/goTo";
import { same } from "../../../lib/useDraft";
import { KeptGuard, KeptSign } from "../KeptSign";
import { type Opened, openedDraftQuery, useKeeping } from "../useKeeping";
import { useDeleteDraft } from "../UnfinishedList";
import { useRehearsal } from "../useRehearsal";
import { DocumentsStep } from "./DocumentsStep";
import { ModelsStep } from "./ModelsStep";
import { MoreStep } from "./MoreStep";
import { SAMPLE_MODELS, SAMPLE_TASK } from "./sample";
import {
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
  const { draft: draftId = "" } = route.useSearch();
  const opened = useQuery(openedDraftQuery(useApi(), { draftId }));
  if (opened.data) return <Comparison key={draftId} opened={opened.data} />;
  return (
    <Page {...HEAD}>
      <QueryView query={opened}>{() => null}</QueryView>
    </Page>
  );
}

function Comparison({ opened }: { opened: Opened }) {
  const api = useApi();
  const navigate = useNavigate();
  const known = useModels();
  const documents = useQuery(contentChoiceQuery(api, "input_document"));
  const connections = useQuery(connectionsQuery(api));
  const drafts = useQuery(draftsQuery(api)).data?.items ?? [];
  const [setup, setSetup] = useState<Setup>({ ...EMPTY, ...opened.kept?.value.body });
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
    same(setup, EMPTY) ? undefined : { name, form: "comparison", body: { ...keptOf(setup) } },
  );
  usePrompts(setup.prompts, setPrompt);
  const judges = useDefaultJudges(setup.models);
  const preset = useMemo(() => presetOf(setup, judges), [setup, judges]);
  const missing = missingIn(setup, false, judges);
  const isKept =
    !setup.models.length ||
    setup.prompts.every(({ text, contentId, kept }) => contentId !== undefined && kept === text);
  const rehearsal = useRehearsal(preset, missing.length === 0 && isKept && Boolean(judges ?? setup.more.comparison));
  const compare = useCompare();
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
          prompts.forEach(({ contentId, kept }, number) => setPrompt(number, { contentId, kept, isShared: false }));
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
  const error = compare.error ?? tries.error ?? rehearsal.error;
  const grid = useRef<HTMLDivElement>(null);
  useGoToFault(grid, compare.error ?? tries.error);
  return (
    <Page {...HEAD} badge={<KeptSign keeping={keeping} />}>
      <KeptGuard keeping={keeping} />
      {same(setup, EMPTY) && (
        <Unfinished draft={drafts.find(({ form, id }) => form === "comparison" && id !== opened.id)} />
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
            onRemove={(number) => change({ prompts: setup.prompts.filter((_, at) => at !== number), off: [] })}
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
          onGo={(part) => goTo(grid.current, part)}
        />
      </div>
    </Page>
  );
}

/** Who comes back for what was begun does not begin another one. */
function Unfinished({ draft }: { draft: DraftSummary | undefined }) {
  const remove = useDeleteDraft();
  if (!draft) return null;
  return (
    <Note>
      <p>
        “{draft.name}” is not finished.{" "}
        <Link to="/compare" search={{ draft: draft.id }}>
          Go on with it
        </Link>{" "}
        or{" "}
        <button type="button" className="link" disabled={remove.isPending} onClick={() => remove.mutate(draft.id)}>
          delete it
        </button>
        .
      </p>
    </Note>
  );
}
