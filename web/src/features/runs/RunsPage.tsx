import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Search, Trash2 } from "lucide-react";
import { useState } from "react";
import { draftsQuery } from "../../api/queries";
import { useApi } from "../../app/context";
import { Button } from "../../components/Button";
import { Confirm } from "../../components/Dialog";
import { Empty, ErrorNote, Skeleton } from "../../components/Feedback";
import { Page } from "../../components/Page";
import { RUN_STATES, wordsForRun } from "../../lib/states";
import { addressOf, viewOf } from "../../lib/tableView";
import { given } from "../../lib/given";
import { isFound } from "../../lib/tags";
import { useNextPage } from "../../lib/useNextPage";
import { focusPage } from "../../lib/usePageChange";
import { FirstSteps } from "./FirstSteps";
import { runCountQuery, runsQuery, useDeleteRuns } from "./queries";
import { RunList } from "./RunList";

const route = getRouteApi("/runs");

export function RunsPage() {
  const api = useApi();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const state = RUN_STATES.find((known) => known === search.state);
  const words = search.find ?? "";
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [isAsking, setAsking] = useState(false);
  const list = useInfiniteQuery(runsQuery(api, state));
  const count = useQuery(runCountQuery(api));
  const remove = useDeleteRuns(() => {
    setChosen(new Set());
    setAsking(false);
    // The button that opened the dialog is gone, because nothing is chosen any more.
    setTimeout(focusPage);
  });

  const unfinished = useQuery(draftsQuery(api)).data?.items.length ?? 0;
  const all = list.data?.pages.flatMap((page) => page.items);
  const runs = all?.filter((run) => isFound(words, run));
  // Do not delete chosen runs that the filter hides.
  const pickedRuns = runs?.filter((run) => chosen.has(run.id)) ?? [];
  const picked = pickedRuns.map((run) => run.id);
  // The later one is set against the earlier one, which shows what a change did.
  const [here, there] = [...pickedRuns].sort((one, other) => other.created_at.localeCompare(one.created_at));
  // The page itself filters and sorts, so all runs must be loaded.
  const next = useNextPage(list, Boolean(words || search.sort));
  const isNew = runs?.length === 0 && !words && !state;
  const look = (changes: Partial<Record<keyof typeof search, string | undefined>>, replace = false) =>
    void navigate({ search: (now) => given({ ...now, ...changes }), replace });

  return (
    <Page
      title="Comparisons"
      intro="Every comparison that you started, what it found and what it cost."
      actions={
        <>
          <Link to="/presets" className="btn">
            Presets{unfinished > 0 && ` · ${unfinished} unfinished`}
          </Link>
          <Link to="/compare" className="btn primary">
            New comparison
          </Link>
        </>
      }
    >
      {!isNew && (
        <div className="row between">
          <div className="row grow toolbar">
            <div className="search">
              <Search size={16} aria-hidden />
              <input
                className="input"
                type="search"
                aria-label="Filter by name or tag"
                placeholder="Name or tag"
                value={words}
                onChange={(event) => look({ find: event.target.value }, true)}
              />
            </div>
            <select
              className="input narrow"
              aria-label="State"
              value={state ?? ""}
              onChange={(event) => look({ state: event.target.value })}
            >
              <option value="">All states{count.data ? ` (${count.data.total})` : ""}</option>
              {RUN_STATES.map((known) => (
                <option key={known} value={known}>
                  {wordsForRun(known)} ({count.data?.by_state[known] ?? 0})
                </option>
              ))}
            </select>
          </div>
          {picked.length > 0 && (
            <div className="row">
              <span role="status">{picked.length} chosen</span>
              {picked.length === 2 && here && there && (
                <Link
                  to="/runs/compare/$here/$there"
                  params={{ here: here.id, there: there.id }}
                  className="btn small primary"
                >
                  Compare the two
                </Link>
              )}
              <Button small variant="quiet" onPress={() => setChosen(new Set())}>
                Choose none
              </Button>
              <Button small variant="danger" onPress={() => setAsking(true)}>
                <Trash2 size={16} aria-hidden /> Delete
              </Button>
            </div>
          )}
        </div>
      )}
      {list.isError && !all && <ErrorNote error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && (
        <div className="card flush">
          <Skeleton />
        </div>
      )}
      {isNew && <FirstSteps />}
      {runs?.length === 0 && !isNew && (
        <Empty
          title="No comparison fits"
          action={<Button onPress={() => look({ state: undefined, find: undefined })}>Show all comparisons</Button>}
        >
          {list.hasNextPage ? "Looking through the older ones…" : "Choose another state or other words."}
        </Empty>
      )}
      {runs && runs.length > 0 && (
        <RunList
          runs={runs}
          chosen={chosen}
          onChoose={setChosen}
          view={viewOf(search)}
          onView={(view) => look({ sort: undefined, columns: undefined, ...addressOf(view) }, true)}
          onEnd={next}
        />
      )}
      <Confirm
        title={picked.length === 1 ? "Delete this comparison?" : `Delete ${picked.length} comparisons?`}
        text="Their answers, verdicts and exports are deleted with them, for good. Those that are still at work stay."
        action="Delete"
        isOpen={isAsking}
        isPending={remove.isPending}
        onClose={() => setAsking(false)}
        onConfirm={() => remove.mutate(picked)}
      />
    </Page>
  );
}
