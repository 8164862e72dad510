import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import type { Preset } from "../../api/types";
import { useApi } from "../../app/context";
import { Skeleton } from "../../components/Feedback";
import { Page } from "../../components/Page";
import { QueryView } from "../../components/QueryView";
import { Editor } from "./compare/Editor";
import { setupOf } from "./compare/setup";
import { draftOf } from "./draft";
import { ExecuteDialog } from "./ExecuteDialog";
import { presetQuery } from "./queries";
import { openedDraftQuery } from "./useKeeping";

const route = getRouteApi("/presets/$presetId");
const BACK = { to: "/presets", label: "Presets" } as const;

/** A preset is a saved comparison: it opens in the editor of new ones. */
export function PresetPage() {
  const { presetId } = route.useParams();
  const { part } = route.useSearch();
  const query = useQuery(presetQuery(useApi(), presetId));
  const opened = useQuery(openedDraftQuery(useApi(), { presetId }));
  const [executing, setExecuting] = useState<Preset>();
  if (!query.data || !opened.data) return <Opening query={query.data ? opened : query} />;
  const { value: stored, etag } = query.data;
  return (
    <>
      <Editor
        key={presetId}
        head={{ title: stored.name, back: BACK }}
        opened={opened.data}
        saved={{ value: setupOf(draftOf(stored)), etag }}
        stored={stored}
        onRun={setExecuting}
        part={part}
      />
      {executing && <ExecuteDialog preset={executing} onClose={() => setExecuting(undefined)} />}
    </>
  );
}

function Opening({ query }: { query: UseQueryResult }) {
  return (
    <Page title="Preset" back={BACK}>
      {query.isError ? <QueryView query={query}>{() => null}</QueryView> : <Skeleton />}
    </Page>
  );
}
