import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { TabPanel } from "react-aria-components";
import { faultsAt, isMissing, isOutdated, type Tagged } from "carrel-sdk";
import { queryKeys } from "../../api/queryKeys";
import { criteriaProposalQuery } from "../../api/queries";
import type { Content, ContentIn, ContentType } from "../../api/types";
import { useApi } from "../../app/context";
import { Button } from "../../components/Button";
import { Behind, EditGuard, Gone } from "../../components/EditGuard";
import { ErrorNote, Skeleton } from "../../components/Feedback";
import { Page } from "../../components/Page";
import { QueryView } from "../../components/QueryView";
import { Scroll } from "../../components/Scroll";
import { TabStrip } from "../../components/TabStrip";
import { toast } from "../../components/Toasts";
import { yamlOf } from "../../lib/criteria";
import { part } from "../../lib/part";
import { variablesFor } from "../../lib/placeholders";
import { changedFields, type Saved, useDraft } from "../../lib/useDraft";
import { ContentFields, isOfFields, writtenOf } from "./ContentFields";
import { contentQuery, useSaveContent } from "./queries";
import { Original } from "./Original";
import { ResolvePreview } from "./ResolvePreview";
import { TextEditor } from "./TextEditor";
import { typeOf } from "../../lib/contentTypes";
import { VariableFields } from "./VariableFields";
import { Versions } from "./Versions";

const Diff = lazy(part(() => import("../../components/Diff").then((m) => ({ default: m.Diff }))));
const route = getRouteApi("/library/$contentId");
const TABS = [
  ["write", "Write"],
  ["filled", "With variables filled in"],
  ["versions", "Versions"],
] as const;
const BACK = { to: "/library", label: "Library" } as const;

export function ContentPage() {
  const { contentId } = route.useParams();
  const { type, votes, half } = route.useSearch();
  if (contentId === "new" && votes)
    return <FromVotes key={`votes ${votes} ${half}`} runId={votes} half={half === "yes"} />;
  if (contentId === "new") return <NewContent key={`new ${type ?? ""}`} type={type} />;
  return <OldContent key={contentId} contentId={contentId} />;
}

function emptyOf(type: ContentType): ContentIn {
  return { name: "", type, body: "", variables: {} };
}

/** The page stays mounted when its address changes: a new text keeps the values that it began with. */
function NewContent({ type }: { type: string | undefined }) {
  const [empty] = useState(() => emptyOf(typeOf(type) ?? "input_document"));
  return <Editor stored={undefined} saved={{ value: empty, etag: undefined }} />;
}

/** A new text that begins as the criteria that a run's votes ask for. It is written, but not saved. */
function FromVotes({ runId, half }: { runId: string; half: boolean }) {
  const query = useQuery({ ...criteriaProposalQuery(useApi(), runId, half), refetchOnWindowFocus: false });
  if (!query.data)
    return (
      <Page title="New text" back={BACK}>
        <QueryView query={query}>{() => null}</QueryView>
      </Page>
    );
  const empty = emptyOf("criteria");
  const body = yamlOf(query.data.proposals.map(({ criterion }) => criterion));
  return (
    <Editor
      stored={undefined}
      saved={{ value: empty, etag: undefined }}
      begun={{ ...empty, name: half ? "Criteria from half of the votes" : "Criteria from votes", body }}
    />
  );
}

function OldContent({ contentId }: { contentId: string }) {
  const query = useQuery(contentQuery(useApi(), contentId));
  if (!query.data)
    return (
      <Page title="Text" back={BACK}>
        <QueryView query={query}>{() => null}</QueryView>
      </Page>
    );
  return <Editor stored={query.data} saved={savedOf(query.data)} />;
}

function savedOf({ value, etag }: Tagged<Content>): Saved<ContentIn> {
  return { value: writtenOf(value), etag };
}

interface EditorProps {
  stored: Tagged<Content> | undefined;
  saved: Saved<ContentIn>;
  /** What is written already, and not saved. */
  begun?: ContentIn;
}

function Editor({ stored, saved, begun }: EditorProps) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const draft = useDraft(saved, begun);
  const [tab, setTab] = useState<(typeof TABS)[number][0]>("write");
  const { value } = draft;
  const save = useSaveContent(stored?.value.id, draft.etag);
  const saveAsNew = useSaveContent(undefined, undefined);
  const change = (part: Partial<ContentIn>) => draft.set({ ...value, ...part });
  const write = (body: string) => change({ body, variables: variablesFor(body, value.variables ?? {}) });
  const open = (contentId: string) =>
    void navigate({ to: "/library/$contentId", params: { contentId }, replace: true, ignoreBlocker: true });
  const submit = () =>
    save.mutate(value, {
      onSuccess: (now) => {
        draft.settle(value, savedOf(now));
        if (!stored) open(now.value.id);
      },
      // Somebody else saved a version: fetch it, so that the page can compare the two.
      onError: (error) =>
        stored &&
        isOutdated(error) &&
        void queries.invalidateQueries({ queryKey: queryKeys.content.one(stored.value.id), exact: true }),
    });
  const canSave = draft.isDirty && !draft.isBehind && !save.isPending && value.name.trim() !== "";
  const isGone = stored !== undefined && isMissing(save.error);
  const isBehind = draft.isBehind && !save.isPending;
  const differing = changedFields(saved.value, value);
  return (
    <Page
      title={stored ? stored.value.name : "New text"}
      back={BACK}
      badge={
        draft.isDirty ? (
          <span className="chip warn">not saved</span>
        ) : (
          stored && <span className="chip">version {stored.value.version}</span>
        )
      }
      actions={
        <Button variant="primary" onPress={submit} isDisabled={!canSave}>
          {save.isPending ? "Saving…" : "Save"}
        </Button>
      }
    >
      <EditGuard draft={draft} onSave={canSave ? submit : undefined} />
      {isBehind && (
        <Behind
          draft={draft}
          fields={differing.map((field) => (field === "body" ? "text" : field))}
          after="If you keep yours, the other one stays among the versions."
        >
          {differing.includes("body") && (
            <Scroll isPane label="From the other text to yours">
              <Suspense fallback={<Skeleton />}>
                <Diff from={saved.value.body ?? ""} to={value.body ?? ""} />
              </Suspense>
            </Scroll>
          )}
        </Behind>
      )}
      {isGone && (
        <Gone
          isPending={saveAsNew.isPending}
          onSaveAsNew={() => saveAsNew.mutate(value, { onSuccess: (now) => open(now.value.id) })}
        />
      )}
      {saveAsNew.isError && <ErrorNote error={saveAsNew.error} />}
      {save.isError && !isOutdated(save.error) && !isGone && !isOfFields(save.error) && (
        <ErrorNote error={save.error} />
      )}
      <ContentFields draft={value} isNew={!stored} error={save.error} onChange={change} />
      {stored?.value.type === "input_document" && <Original content={stored.value} onRead={() => setTab("versions")} />}
      <TabStrip label="Ways to see the text" tabs={TABS} chosen={tab} onChoose={setTab}>
        <TabPanel id="write" className="stack">
          <TextEditor type={value.type} body={value.body ?? ""} error={save.error} onChange={write} />
          <VariableFields
            variables={value.variables ?? {}}
            onChange={(variables) => change({ variables })}
            ownId={stored?.value.id}
            faults={faultsAt(save.error, "variables")}
          />
        </TabPanel>
        <TabPanel id="filled">
          {stored && !draft.isDirty ? (
            <ResolvePreview content={stored.value} />
          ) : (
            <p className="dim">Save it to see what a run will see.</p>
          )}
        </TabPanel>
        <TabPanel id="versions">
          {stored ? (
            <Versions
              content={stored.value}
              onTake={(old, version) => {
                write(old);
                setTab("write");
                toast.done(`The text of version ${version} is in the editor. Save it to keep it.`);
              }}
            />
          ) : (
            <p className="dim">There are none before it is saved.</p>
          )}
        </TabPanel>
      </TabStrip>
    </Page>
  );
}
