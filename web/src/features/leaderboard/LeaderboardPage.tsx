import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { Board, Leaderboard } from "../../api/types";
import { useApi, useFormats } from "../../app/context";
import { Empty } from "../../components/Feedback";
import { SelectField } from "../../components/Field";
import { Page } from "../../components/Page";
import { QueryView } from "../../components/QueryView";
import { addressOf, type TableView, viewOf } from "../../lib/tableView";
import { BoardSection } from "./BoardSection";
import { inOrder, nameOf, sharedBy, sizeOf } from "./groups";
import { leaderboardQuery } from "./queries";

const route = getRouteApi("/leaderboard");

/** Every candidate of the finished runs, quality against cost, in groups that can be ranked together. */
export function LeaderboardPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(leaderboardQuery(useApi(), search.run));
  return (
    <Page
      title="Leaderboard"
      intro="Every candidate that has run, quality against cost. Only runs with the same documents, judges, criteria and instructions are ranked together; figures of two rankings cannot be compared."
    >
      <QueryView query={query} lines={8}>
        {(board) => (
          <Boards
            board={board}
            view={viewOf(search)}
            onView={(view) => void navigate({ search: { ...groupOf(search.run), ...addressOf(view) }, replace: true })}
            onGroup={(run) => void navigate({ search: { run } })}
          />
        )}
      </QueryView>
      {query.isError && search.run && (
        <p>
          <Link to="/leaderboard">Show the newest ranking</Link>
        </p>
      )}
    </Page>
  );
}

interface Props {
  board: Leaderboard;
  view: TableView;
  onView: (view: TableView) => void;
  /** Shows the group of this run. */
  onGroup: (run: string) => void;
}

export function Boards({ board, view, onView, onGroup }: Props) {
  const formats = useFormats();
  const groups = inOrder<Omit<Board, "labels">>([board, ...board.others]);
  const here = idOf(board);
  if (!board.runs.length)
    return (
      <Empty
        title="No comparison has finished yet"
        action={
          <Link to="/compare" className="btn primary">
            New comparison
          </Link>
        }
      >
        When comparisons have finished, all their candidates stand here: how often each is preferred, what it costs and
        how fast it is.
      </Empty>
    );
  return (
    <div className="stack wide">
      {groups.length > 1 && (
        <div className="board-choice">
          <SelectField
            label="Ranking"
            hint={`${formats.counted(groups.length, "ranking")}, one for each set of documents and judges, the newest first`}
            value={here}
            onChange={(event) => onGroup(event.target.value)}
          >
            {groups.map((group) => (
              <option key={idOf(group)} value={idOf(group)}>
                {nameOf(group)} ({sizeOf(group, formats)})
              </option>
            ))}
          </SelectField>
        </div>
      )}
      <BoardSection key={here} board={board} view={view} onView={onView} />
      {board.others.length > 0 && <OtherRankings groups={inOrder(board.others)} />}
      {board.left_out > 0 && (
        <p className="small dim">
          {formats.counted(board.left_out, "older run")} {board.left_out === 1 ? "is" : "are"} left out.
        </p>
      )}
    </div>
  );
}

function OtherRankings({ groups }: { groups: readonly Board[] }) {
  const formats = useFormats();
  return (
    <section className="stack" aria-labelledby="other-rankings-title">
      <h2 id="other-rankings-title">Other rankings</h2>
      <ul className="card flush">
        {groups.map((group) => (
          <li key={idOf(group)} className="list-row">
            <Link to="/leaderboard" search={groupOf(idOf(group))} className="title">
              {nameOf(group)}
            </Link>
            <p className="small">{group.labels.join(", ")}</p>
            <p className="small dim">
              {sharedBy(group, formats)} · {formats.counted(group.runs.length, "run")}
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A group is called by its newest run. */
function idOf({ runs }: Pick<Board, "runs">): string {
  return runs[0]?.id ?? "";
}

function groupOf(run: string | undefined): { run?: string } {
  return run ? { run } : {};
}
