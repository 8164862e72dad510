import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { TabPanel } from "react-aria-components";
import { data } from "carrel-sdk";
import { meQuery } from "../../api/queries";
import { queryKeys } from "../../api/queryKeys";
import type { LedgerEntry, Me } from "../../api/types";
import { useApi, useFormats, useSession } from "../../app/context";
import { UserName } from "../../app/UserName";
import { Empty, ErrorNote, Skeleton } from "../../components/Feedback";
import { Page } from "../../components/Page";
import { QueryView } from "../../components/QueryView";
import { TabStrip } from "../../components/TabStrip";
import { VirtualList } from "../../components/VirtualList";
import { part } from "../../lib/part";
import { useNextPage } from "../../lib/useNextPage";
import { SettingsForm } from "./SettingsForm";

const UsagePanel = lazy(part(() => import("./UsagePanel").then((m) => ({ default: m.UsagePanel }))));
const DataPanel = lazy(part(() => import("./DataPanel").then((m) => ({ default: m.DataPanel }))));
const ConnectionsPanel = lazy(part(() => import("./ConnectionsPanel").then((m) => ({ default: m.ConnectionsPanel }))));
const SessionsPanel = lazy(part(() => import("./SessionsPanel").then((m) => ({ default: m.SessionsPanel }))));
const ProgramsPanel = lazy(part(() => import("./ProgramsPanel").then((m) => ({ default: m.ProgramsPanel }))));

const route = getRouteApi("/account");
const TABS = [
  ["settings", "Preferences"],
  ["usage", "Usage"],
  ["ledger", "Credits"],
  ["github", "GitHub"],
  ["data", "Your data"],
  ["sessions", "Sessions"],
  ["programs", "Programs"],
] as const;
const PANELS = {
  settings: SettingsForm,
  usage: UsagePanel,
  ledger: Ledger,
  github: ConnectionsPanel,
  data: DataPanel,
  sessions: SessionsPanel,
  programs: ProgramsPanel,
};

export function AccountPage() {
  const query = useQuery(meQuery(useApi()));
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const tab = TABS.find(([id]) => id === search.tab)?.[0] ?? "settings";
  return (
    <Page title="Settings">
      <QueryView query={query}>{(me) => <Membership me={me} />}</QueryView>
      <TabStrip
        label="Settings"
        tabs={TABS}
        chosen={tab}
        onChoose={(id) => void navigate({ search: { tab: id }, replace: true })}
      >
        {TABS.map(([id]) => {
          const Panel = PANELS[id];
          return (
            <TabPanel key={id} id={id}>
              <Suspense fallback={<Skeleton />}>
                <Panel />
              </Suspense>
            </TabPanel>
          );
        })}
      </TabStrip>
    </Page>
  );
}

function Membership({ me }: { me: Me }) {
  const formats = useFormats();
  const { user } = useSession();
  const { upgradeUrl } = useApi().session.config;
  return (
    <section className="card stack" aria-label="Membership">
      <div className="row between">
        <div className="row">
          {user && (
            <strong>
              <UserName user={user} />
            </strong>
          )}
          <span className={`chip ${me.membership === "paid" ? "good" : ""}`}>
            {me.membership === "paid" ? "Paid membership" : "Free membership"}
          </span>
          <span className="small dim">since {formats.dateTime(me.created_at)}</span>
        </div>
        {upgradeUrl && (
          <a className="btn" href={upgradeUrl}>
            {me.membership === "paid" ? "Membership and credits" : "Get a membership"}
          </a>
        )}
      </div>
      <dl className="figures four">
        {(
          [
            ["Credits", formats.credits(me.credits)],
            ["Runs", formats.integer(me.counts.runs)],
            ["Presets", formats.integer(me.counts.presets)],
            ["Texts", formats.integer(me.counts.contents)],
          ] as const
        ).map(([name, value]) => (
          <div key={name} className="figure">
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

const KINDS: Record<LedgerEntry["kind"], string> = {
  add: "Added",
  reserve: "Reserved for a run",
  settle: "Spent",
  release: "Released",
  refund: "Refunded",
};

function Ledger() {
  const api = useApi();
  const formats = useFormats();
  const query = useInfiniteQuery({
    queryKey: queryKeys.ledger,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      data(
        api.client.GET("/api/credits/ledger", {
          params: { query: { limit: 100, ...(pageParam ? { cursor: pageParam } : {}) } },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
  const next = useNextPage(query);
  const entries = query.data?.pages.flatMap((page) => page.items);
  if (query.isError && !entries) return <ErrorNote error={query.error} onRetry={() => void query.refetch()} />;
  if (!entries) return <Skeleton />;
  if (!entries.length)
    return (
      <Empty title="No entries yet">
        Credits are bought on the website that you came from. Runs with your own keys need none.
      </Empty>
    );
  return (
    <div className="card flush">
      <VirtualList
        items={entries}
        label="Ledger"
        estimate={58}
        keyOf={(entry) => entry.id}
        onEnd={next}
        render={(entry) => (
          <div className="list-row content-row">
            <div>
              <strong>{KINDS[entry.kind]}</strong> {entry.reason && <span className="dim">{entry.reason}</span>}
              <span className="small dim block">{formats.dateTime(entry.created_at)}</span>
            </div>
            <div className="num ledger-amount">
              {formats.credits(entry.amount)}
              <span className="small dim block">balance {formats.credits(entry.balance)}</span>
            </div>
          </div>
        )}
      />
    </div>
  );
}
