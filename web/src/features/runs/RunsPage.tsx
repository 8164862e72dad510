import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Search, Trash2 } from "lucide-react";
import { useState } from "react";
import type { RunState } from "../../api/types";
import { useApi } from "../../app/context";
import { Button } from "../../components/Button";
import { Confirm } from "../../components/Dialog";
import { Empty, ErrorNote, Skeleton } from "../../components/Feedback";
import { Page } from "../../components/Page";
import { RUN_STATES, wordsForRun } from "../../lib/states";
import { matches, runCountQuery, runsQuery, useDeleteRuns } from "./queries";
import { RunList } from "./RunList";

const route = getRouteApi("/runs");

export function RunsPage() {
  const api = useApi();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const state = RUN_STATES.find((known) => known === search.state);
  const [words, setWords] = useState("");
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [isAsking, setAsking] = useState(false);
  const list = useInfiniteQuery(runsQuery(api, state));
  const count = useQuery(runCountQuery(api));
  const remove = useDeleteRuns(() => {
    setChosen(new Set());
    setAsking(false);
  });

  const all = list.data?.pages.flatMap((page) => page.items);
  const runs = all?.filter((run) => matches(run, words));
  const choose = (next: RunState | undefined) => void navigate({ search: next ? { state: next } : {} });

  return (
    <Page
      title="Runs"
      intro="Every comparison that you started, what it found and what it cost."
      actions={
        <Link to="/presets" className="btn primary">
          New run
        </Link>
      }
    >
      <div className="row between">
        <div className="row grow">
          <div className="search">
            <Search size={16} aria-hidden />
            <input className="input" type="search" aria-label="Filter by name or tag" placeholder="Name or tag" value={words} onChange={(event) => setWords(event.target.value)} />
          </div>
          <select className="input narrow" aria-label="State" value={state ?? ""} onChange={(event) => choose(RUN_STATES.find((known) => known === event.target.value))}>
            <option value="">All states{count.data ? ` (${count.data.total})` : ""}</option>
            {RUN_STATES.map((known) => (
              <option key={known} value={known}>
                {wordsForRun(known)} ({count.data?.by_state[known] ?? 0})
              </option>
            ))}
          </select>
        </div>
        {chosen.size > 0 && (
          <div className="row">
            <span role="status">{chosen.size} chosen</span>
            <Button small variant="quiet" onPress={() => setChosen(new Set())}>
              Choose none
            </Button>
            <Button small variant="danger" onPress={() => setAsking(true)}>
              <Trash2 size={16} aria-hidden /> Delete
            </Button>
          </div>
        )}
      </div>
      {list.isError && !all && <ErrorNote error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && (
        <div className="card flush">
          <Skeleton />
        </div>
      )}
      {runs && runs.length === 0 && <NoRuns filtered={Boolean(words || state)} />}
      {runs && runs.length > 0 && (
        <RunList runs={runs} chosen={chosen} onChoose={setChosen} onEnd={() => list.hasNextPage && !list.isFetchingNextPage && void list.fetchNextPage()} />
      )}
      <Confirm
        title={chosen.size === 1 ? "Delete this run?" : `Delete ${chosen.size} runs?`}
        text="Their answers, verdicts and exports go with them, for good. Runs that are under way are left out."
        action="Delete"
        isOpen={isAsking}
        isPending={remove.isPending}
        onClose={() => setAsking(false)}
        onConfirm={() => remove.mutate([...chosen])}
      />
    </Page>
  );
}

function NoRuns({ filtered }: { filtered: boolean }) {
  if (filtered) return <Empty title="No run fits">Choose another state or other words.</Empty>;
  return (
    <Empty
      title="Nothing compared yet"
      action={
        <Link to="/presets/$presetId" params={{ presetId: "new" }} className="btn primary">
          Set up the first comparison
        </Link>
      }
    >
      Put ten documents or more into the library, say which models and prompts are to compete, and a run finds out which of them does the job best for the money.
    </Empty>
  );
}

