import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useBlocker, useNavigate } from "@tanstack/react-router";
import { Play } from "lucide-react";
import { useState } from "react";
import type { Tagged } from "../../api/client";
import { contentChoiceQuery, modelsQuery } from "../../api/queries";
import type { Preset, PresetIn } from "../../api/types";
import { useApi } from "../../app/context";
import { useSettings } from "../../app/settings";
import { Button } from "../../components/Button";
import { ErrorNote, Note, Skeleton } from "../../components/Feedback";
import { Page } from "../../components/Page";
import { QueryView } from "../../components/QueryView";
import { draftOf, emptyDraft, faultsOf } from "./draft";
import { Estimate } from "./Estimate";
import { ExecuteDialog } from "./ExecuteDialog";
import { PresetForm } from "./PresetForm";
import { dryRunQuery, presetQuery, useSavePreset } from "./queries";

const route = getRouteApi("/presets/$presetId");
const BACK = { to: "/presets", label: "Presets" } as const;

export function PresetPage() {
  const { presetId } = route.useParams();
  return presetId === "new" ? <NewPreset /> : <OldPreset key={presetId} presetId={presetId} />;
}

function NewPreset() {
  const settings = useSettings();
  if (settings.isPending)
    return (
      <Page title="New preset" back={BACK}>
        <Skeleton />
      </Page>
    );
  return <Editor key="new" saved={undefined} initial={emptyDraft(settings.data?.value)} />;
}

function OldPreset({ presetId }: { presetId: string }) {
  const query = useQuery(presetQuery(useApi(), presetId));
  if (!query.data)
    return (
      <Page title="Preset" back={BACK}>
        <QueryView query={query}>{() => null}</QueryView>
      </Page>
    );
  return <Editor saved={query.data} initial={draftOf(query.data.value)} />;
}

function Editor({ saved, initial }: { saved: Tagged<Preset> | undefined; initial: PresetIn }) {
  const api = useApi();
  const navigate = useNavigate();
  const [draft, setDraft] = useState(initial);
  const [clean, setClean] = useState(initial);
  const [isExecuting, setExecuting] = useState(false);
  const models = useQuery(modelsQuery(api));
  const documents = useQuery(contentChoiceQuery(api, "input_document"));
  const save = useSavePreset(saved?.value.id, saved?.etag);
  const isDirty = JSON.stringify(draft) !== JSON.stringify(clean);
  const faults = faultsOf(draft, { models: models.data?.items, documents: documents.data });
  useBlocker({
    // Not while a save leads from "new" to the preset's own address.
    shouldBlockFn: () => isDirty && !save.isPending && !save.isSuccess && !window.confirm("Leave without saving?"),
    enableBeforeUnload: () => isDirty,
  });
  const submit = () =>
    save.mutate(draft, {
      onSuccess: ({ value }) => {
        setClean(draft);
        if (!saved) void navigate({ to: "/presets/$presetId", params: { presetId: value.id }, replace: true });
      },
    });
  return (
    <Page
      title={saved ? saved.value.name : "New preset"}
      back={BACK}
      badge={isDirty && <span className="chip warn">not saved</span>}
      actions={
        <>
          <Button onPress={submit} isDisabled={!isDirty || save.isPending || faults.size > 0}>
            Save
          </Button>
          <Button variant="primary" onPress={() => setExecuting(true)} isDisabled={!saved || isDirty}>
            <Play size={16} aria-hidden /> Run
          </Button>
        </>
      }
    >
      {save.isError && <ErrorNote error={save.error} />}
      <div className="editor-grid">
        {models.isPending || documents.isPending ? (
          <Skeleton lines={12} />
        ) : (
          <PresetForm draft={draft} onChange={setDraft} faults={faults} models={models.data?.items ?? []} documents={documents.data ?? []} error={save.error} />
        )}
        <aside className="stack sticky" aria-label="What it takes">
          <div className="card stack">
            <h2>What it takes</h2>
            {saved && !isDirty ? <SavedEstimate preset={saved.value} /> : <Missing faults={[...faults.values()]} />}
          </div>
        </aside>
      </div>
      {isExecuting && saved && <ExecuteDialog preset={saved.value} onClose={() => setExecuting(false)} />}
    </Page>
  );
}

function SavedEstimate({ preset }: { preset: Preset }) {
  return <Estimate query={useQuery(dryRunQuery(useApi(), preset.id, preset.version))} />;
}

function Missing({ faults }: { faults: readonly string[] }) {
  if (!faults.length) return <p className="dim">Save it to see how many calls it takes, what they cost, and what so many documents can decide.</p>;
  return (
    <Note tone="warn">
      <p>Still missing:</p>
      <ul className="doubts plain">
        {[...new Set(faults)].map((fault) => (
          <li key={fault}>{fault}</li>
        ))}
      </ul>
    </Note>
  );
}
