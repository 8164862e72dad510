import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useBlocker, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { faultsAt } from "../../api/errors";
import type { Tagged } from "../../api/client";
import type { Content, ContentIn, ContentType } from "../../api/types";
import { useApi } from "../../app/context";
import { Button } from "../../components/Button";
import { ErrorNote, Skeleton } from "../../components/Feedback";
import { SelectField, TextArea, TextField } from "../../components/Field";
import { Page } from "../../components/Page";
import { QueryView } from "../../components/QueryView";
import { Scroll } from "../../components/Scroll";
import { part } from "../../lib/part";
import { contentQuery, useSaveContent } from "./queries";
import { ResolvePreview } from "./ResolvePreview";
import { TYPES, typeOf, variablesFor } from "./types";
import { VariableFields } from "./VariableFields";
import { Versions } from "./Versions";

const Markdown = lazy(part(() => import("../../components/Markdown").then((m) => ({ default: m.Markdown }))));
const route = getRouteApi("/library/$contentId");
const BACK = { to: "/library", label: "Library" } as const;

export function ContentPage() {
  const { contentId } = route.useParams();
  const { type } = route.useSearch();
  if (contentId === "new") return <Editor key="new" saved={undefined} initial={{ name: "", type: typeOf(type) ?? "input_document", body: "", variables: {} }} />;
  return <OldContent key={contentId} contentId={contentId} />;
}

function OldContent({ contentId }: { contentId: string }) {
  const query = useQuery(contentQuery(useApi(), contentId));
  if (!query.data)
    return (
      <Page title="Text" back={BACK}>
        <QueryView query={query}>{() => null}</QueryView>
      </Page>
    );
  const { name, type, body, description, tags, variables } = query.data.value;
  return <Editor saved={query.data} initial={{ name, type, body, description, tags, variables }} />;
}

function Editor({ saved, initial }: { saved: Tagged<Content> | undefined; initial: ContentIn }) {
  const navigate = useNavigate();
  const [draft, setDraft] = useState(initial);
  const [clean, setClean] = useState(initial);
  const save = useSaveContent(saved?.value.id, saved?.etag);
  const isDirty = JSON.stringify(draft) !== JSON.stringify(clean);
  const change = (part: Partial<ContentIn>) => setDraft({ ...draft, ...part });
  const write = (body: string) => change({ body, variables: variablesFor(body, draft.variables ?? {}) });
  useBlocker({
    shouldBlockFn: () => isDirty && !save.isPending && !save.isSuccess && !window.confirm("Leave without saving?"),
    enableBeforeUnload: () => isDirty,
  });
  const submit = () =>
    save.mutate(draft, {
      onSuccess: ({ value }) => {
        setClean(draft);
        if (!saved) void navigate({ to: "/library/$contentId", params: { contentId: value.id }, replace: true });
      },
    });
  const body = draft.body ?? "";
  return (
    <Page
      title={saved ? saved.value.name : "New text"}
      back={BACK}
      badge={isDirty ? <span className="chip warn">not saved</span> : saved && <span className="chip">version {saved.value.version}</span>}
      actions={
        <Button variant="primary" onPress={submit} isDisabled={!isDirty || save.isPending || !draft.name.trim()}>
          Save
        </Button>
      }
    >
      {save.isError && <ErrorNote error={save.error} />}
      <div className="columns">
        <TextField label="Name" value={draft.name} maxLength={200} faults={faultsAt(save.error, "name")} onChange={(event) => change({ name: event.target.value })} />
        <SelectField label="Type" value={draft.type} faults={faultsAt(save.error, "type")} hint={TYPES.find(([type]) => type === draft.type)?.[2]} onChange={(event) => change({ type: typeOf(event.target.value) ?? draft.type })}>
          {TYPES.map(([type, label]) => (
            <option key={type} value={type}>
              {label}
            </option>
          ))}
        </SelectField>
        <TextField label="Tags" hint="With commas between." defaultValue={(draft.tags ?? []).join(", ")} faults={faultsAt(save.error, "tags")} onChange={(event) => change({ tags: tagsIn(event.target.value) })} />
      </div>
      <Tabs className="tabs" defaultSelectedKey="write">
        <TabList className="tab-list" aria-label="Ways to see the text">
          <Tab id="write" className="tab">
            Write
          </Tab>
          <Tab id="filled" className="tab">
            With variables filled in
          </Tab>
          <Tab id="versions" className="tab">
            Versions
          </Tab>
        </TabList>
        <TabPanel id="write" className="stack">
          <div className={isProse(draft.type) ? "two-panes" : ""}>
            <TextArea editor label="Text" hideLabel value={body} spellCheck={isProse(draft.type)} faults={faultsAt(save.error, "body")} placeholder={placeholderFor(draft.type)} onChange={(event) => write(event.target.value)} />
            {isProse(draft.type) && (
              <Scroll isPane label="Preview">
                <Suspense fallback={<Skeleton />}>
                  <Markdown text={body || "*Nothing written yet.*"} />
                </Suspense>
              </Scroll>
            )}
          </div>
          <VariableFields variables={draft.variables ?? {}} onChange={(variables) => change({ variables })} ownId={saved?.value.id} faults={faultsAt(save.error, "variables")} />
        </TabPanel>
        <TabPanel id="filled">{saved && !isDirty ? <ResolvePreview content={saved.value} /> : <p className="dim">Save it to see what a run will see.</p>}</TabPanel>
        <TabPanel id="versions">{saved ? <Versions content={saved.value} onTake={(old) => write(old)} /> : <p className="dim">There are none before it is saved.</p>}</TabPanel>
      </Tabs>
    </Page>
  );
}

function isProse(type: ContentType): boolean {
  return type !== "criteria";
}

function placeholderFor(type: ContentType): string {
  if (type === "criteria") return "- name: completeness\n  description: Holds the main points of the document.\n  weight: 2\n- name: clarity";
  if (type === "generation_instructions") return "Summarise the document for {{AUDIENCE}}.\n\n{{document}}";
  return "Markdown, if you like.";
}

function tagsIn(text: string): string[] {
  return [...new Set(text.split(",").map((tag) => tag.trim()))].filter(Boolean);
}
