import { useQuery, useQueryClient, type UseQueryResult } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { Play } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { isMissing, isOutdated, type Tagged } from "carrel-sdk";
import { connectionsQuery } from "../../api/github";
import { contentChoiceQuery } from "../../api/queries";
import { useModels } from "../../api/useModels";
import { queryKeys } from "../../api/queryKeys";
import type { Preset, PresetIn } from "../../api/types";
import { useApi } from "../../app/context";
import { useSettings } from "../../app/settings";
import { Button } from "../../components/Button";
import { Behind, Gone } from "../../components/EditGuard";
import { Confirm } from "../../components/Dialog";
import { ErrorNote, Note, Skeleton } from "../../components/Feedback";
import { Page } from "../../components/Page";
import { QueryView } from "../../components/QueryView";
import { changedFields, type Saved, useDraft } from "../../lib/useDraft";
import { begunOf, draftOf, emptyDraft, type Faults, faultsOf, wordsForField } from "./draft";
import { ExecuteDialog } from "./ExecuteDialog";
import { goTo, useGoToFault } from "../../lib/goTo";
import { KeptGuard, KeptSign } from "./KeptSign";
import { PresetForm } from "./PresetForm";
import { presetQuery, useSavePreset } from "./queries";
import { Rehearsal } from "./Rehearsal";
import { type Opened, openedDraftQuery, useKeeping } from "./useKeeping";
import { useRehearsal } from "./useRehearsal";

const route = getRouteApi("/presets/$presetId");
const BACK = { to: "/presets", label: "Presets" } as const;

export function PresetPage() {
  const { presetId } = route.useParams();
  const draftId = route.useSearch().draft ?? "";
  // Kept above the editor, because the first save mounts another editor.
  const [executing, setExecuting] = useState<Preset>();
  return (
    <>
      {presetId === "new" ? (
        <NewPreset key={draftId} draftId={draftId} onRun={setExecuting} />
      ) : (
        <OldPreset key={presetId} presetId={presetId} onRun={setExecuting} />
      )}
      {executing && <ExecuteDialog preset={executing} onClose={() => setExecuting(undefined)} />}
    </>
  );
}

type OnRun = (preset: Preset) => void;

function NewPreset({ draftId, onRun }: { draftId: string; onRun: OnRun }) {
  const settings = useSettings();
  const opened = useQuery(openedDraftQuery(useApi(), { draftId }));
  if (settings.isPending || !opened.data) return <Opening title="New preset" query={opened} />;
  const saved = { value: emptyDraft(settings.data?.value), etag: undefined };
  return <Editor stored={undefined} saved={saved} opened={opened.data} onRun={onRun} />;
}

function OldPreset({ presetId, onRun }: { presetId: string; onRun: OnRun }) {
  const query = useQuery(presetQuery(useApi(), presetId));
  const opened = useQuery(openedDraftQuery(useApi(), { presetId }));
  if (!query.data || !opened.data) return <Opening title="Preset" query={query.data ? opened : query} />;
  return <Editor stored={query.data} saved={savedOf(query.data)} opened={opened.data} onRun={onRun} />;
}

function Opening({ title, query }: { title: string; query: UseQueryResult }) {
  return (
    <Page title={title} back={BACK}>
      {query.isError ? <QueryView query={query}>{() => null}</QueryView> : <Skeleton />}
    </Page>
  );
}

function savedOf({ value, etag }: Tagged<Preset>): Saved<PresetIn> {
  return { value: draftOf(value), etag };
}

function Editor({
  stored,
  saved,
  opened,
  onRun,
}: {
  stored: Tagged<Preset> | undefined;
  saved: Saved<PresetIn>;
  opened: Opened;
  onRun: OnRun;
}) {
  const api = useApi();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [begun] = useState(() => begunOf(opened.kept?.value.body, saved));
  const draft = useDraft(saved, begun.value, begun.etag);
  const { value, isDirty } = draft;
  const keeping = useKeeping(
    opened,
    isDirty
      ? {
          name: value.name.trim() || "New preset",
          form: "preset",
          preset_id: stored?.value.id ?? null,
          body: { value, etag: draft.etag },
        }
      : undefined,
  );
  const [isDiscarding, setDiscarding] = useState(false);
  const { models, isPending: isAwaited } = useModels();
  const documents = useQuery(contentChoiceQuery(api, "input_document"));
  const connections = useQuery(connectionsQuery(api));
  const save = useSavePreset(stored?.value.id, draft.etag);
  const saveAsNew = useSavePreset(undefined, undefined);
  const faults = faultsOf(value, {
    models: isAwaited ? undefined : models,
    documents: documents.data,
    connections: connections.data?.items,
  });
  const grid = useRef<HTMLDivElement>(null);
  const aside = useRef<HTMLElement>(null);
  useGoToFault(grid, save.error);
  const { part } = route.useSearch();
  // A link from elsewhere may name the part of the form that it is about; the form is whole once its lists are here.
  const isWhole = !isAwaited && !documents.isPending;
  useEffect(() => {
    if (part && isWhole) goTo(grid.current, part);
  }, [part, isWhole]);
  const rehearsal = useRehearsal(value, faults.size === 0 && documents.data !== undefined);
  const open = (presetId: string) =>
    void navigate({ to: "/presets/$presetId", params: { presetId }, replace: true, ignoreBlocker: true });
  const submit = (then?: OnRun) =>
    save.mutate(value, {
      onSuccess: (now) => {
        draft.settle(value, savedOf(now));
        if (!stored) {
          keeping.drop();
          open(now.value.id);
        }
        then?.(now.value);
      },
      // Somebody else saved a version: fetch it, so that the user can choose between the two.
      onError: (error) =>
        stored &&
        isOutdated(error) &&
        void queries.invalidateQueries({ queryKey: queryKeys.preset.one(stored.value.id), exact: true }),
    });
  const isBehind = draft.isBehind && !save.isPending;
  const canSave = isDirty && !draft.isBehind && !save.isPending && faults.size === 0;
  const isGone = stored !== undefined && isMissing(save.error);
  const run = () => (stored && !isDirty ? onRun(stored.value) : submit(onRun));
  return (
    <Page
      title={stored ? stored.value.name : "New preset"}
      back={BACK}
      badge={<KeptSign keeping={keeping} />}
      actions={
        <>
          {faults.size > 0 && (
            <span className="only-narrow">
              <Button small variant="quiet" onPress={() => aside.current?.scrollIntoView()}>
                {faults.size} missing
              </Button>
            </span>
          )}
          {stored && (
            <Link to="/presets/$presetId/trends" params={{ presetId: stored.value.id }} className="btn">
              Trends
            </Link>
          )}
          {isDirty && (
            <Button variant="quiet" onPress={() => setDiscarding(true)}>
              Discard
            </Button>
          )}
          <Button onPress={() => submit()} isDisabled={!canSave}>
            {save.isPending ? "Saving…" : "Save"}
          </Button>
          <Button variant="primary" onPress={run} isDisabled={isDirty || !stored ? !canSave : false}>
            <Play size={16} aria-hidden /> {isDirty || !stored ? "Save and run" : "Run"}
          </Button>
        </>
      }
    >
      <KeptGuard keeping={keeping} onSave={canSave ? () => submit() : undefined} />
      <Confirm
        title={stored ? "Discard the changes?" : "Discard this draft?"}
        text={stored ? "The preset stays as it was saved." : "What you entered here goes for good."}
        action="Discard"
        isOpen={isDiscarding}
        onClose={() => setDiscarding(false)}
        onConfirm={() => {
          draft.takeOther();
          setDiscarding(false);
        }}
      />
      {isBehind && (
        <Behind
          draft={draft}
          fields={changedFields(saved.value, value).map(wordsForField)}
          after="If you keep yours, it takes the other one’s place when you save it."
        />
      )}
      {isGone && (
        <Gone
          isPending={saveAsNew.isPending}
          onSaveAsNew={() =>
            saveAsNew.mutate(value, {
              onSuccess: (now) => {
                keeping.drop();
                open(now.value.id);
              },
            })
          }
        />
      )}
      {saveAsNew.isError && <ErrorNote error={saveAsNew.error} />}
      {save.isError && !isOutdated(save.error) && !isGone && <ErrorNote error={save.error} />}
      <div className="editor-grid" ref={grid}>
        {isAwaited || documents.isPending ? (
          <Skeleton lines={12} />
        ) : (
          <PresetForm
            draft={value}
            onChange={draft.set}
            faults={faults}
            models={models}
            documents={documents.data ?? []}
            connections={connections.data?.items ?? []}
            error={rehearsal.error ?? save.error}
          />
        )}
        <aside className="stack sticky" aria-label="What it takes" ref={aside}>
          <div className="card stack">
            <h2>What it takes</h2>
            {documents.isError && !documents.data && (
              <ErrorNote error={documents.error} onRetry={() => void documents.refetch()} />
            )}
            {faults.size > 0 ? (
              <Missing faults={faults} onGo={(path) => goTo(grid.current, path)} />
            ) : (
              <Rehearsal rehearsal={rehearsal} />
            )}
          </div>
        </aside>
      </div>
    </Page>
  );
}

function Missing({ faults, onGo }: { faults: Faults; onGo: (path: string) => void }) {
  const each = [...faults].filter(([, fault], index, all) => all.findIndex(([, other]) => other === fault) === index);
  return (
    <Note tone="warn">
      <p>Still missing:</p>
      <ul className="doubts plain">
        {each.map(([path, fault]) => (
          <li key={fault}>
            <button type="button" className="link" onClick={() => onGo(path)}>
              {fault}
            </button>
          </li>
        ))}
      </ul>
    </Note>
  );
}
