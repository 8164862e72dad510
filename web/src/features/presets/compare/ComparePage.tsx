import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Navigate, useNavigate } from "@tanstack/react-router";
import { useApi } from "../../../app/context";
import { useSettings } from "../../../app/settings";
import { Page } from "../../../components/Page";
import { QueryView } from "../../../components/QueryView";
import { openedDraftQuery } from "../useKeeping";
import { Editor } from "./Editor";
import { beginning } from "./setup";

const route = getRouteApi("/compare");
const HEAD = {
  title: "New comparison",
  intro: "Bring documents or a table, say what is to be done, and pick the models: you learn which one does it best.",
  back: { to: "/runs", label: "Comparisons" },
} as const;

/** One page from files to a running comparison; everything with a good default is folded away on it. */
export function ComparePage() {
  const { draft: draftId } = route.useSearch();
  const navigate = useNavigate();
  const settings = useSettings();
  const opened = useQuery(openedDraftQuery(useApi(), draftId ? { draftId } : { form: "comparison" }));
  // The address names the draft, so that a reload goes on with it.
  if (opened.data && !draftId) return <Navigate to="/compare" search={{ draft: opened.data.id }} replace />;
  if (opened.data && !settings.isPending)
    return (
      <Editor
        key={draftId}
        head={HEAD}
        opened={opened.data}
        saved={{ value: beginning(settings.data?.value), etag: undefined }}
        onAnew={() => void navigate({ to: "/compare", search: { draft: crypto.randomUUID() } })}
      />
    );
  return (
    <Page {...HEAD}>
      <QueryView query={opened}>{() => null}</QueryView>
    </Page>
  );
}
