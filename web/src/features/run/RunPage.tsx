import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { TabPanel } from "react-aria-components";
import { ApiError } from "carrel-sdk";
import type { Run } from "../../api/types";
import { useApi, useFormats } from "../../app/context";
import { EndingsOf } from "../../components/EndingsNote";
import { Empty, Skeleton } from "../../components/Feedback";
import { Labels } from "../../components/Labels";
import { Page } from "../../components/Page";
import { QueryView } from "../../components/QueryView";
import { RunState } from "../../components/RunState";
import { TabStrip } from "../../components/TabStrip";
import { given } from "../../lib/given";
import { part } from "../../lib/part";
import { hasEnded, wordsForRun } from "../../lib/states";
import { RunActions } from "./actions/RunActions";
import { DeliveryNote } from "./DeliveryNote";
import { LiveAnswers } from "./live/LiveAnswers";
import { LivePanel } from "./live/LivePanel";
import { LogPanel } from "./log/LogPanel";
import { PauseNote } from "./PauseNote";
import { reportQuery, runQuery } from "./queries";
import { RoundChoice } from "./RoundChoice";
import { TasksPanel } from "./tasks/TasksPanel";
import { useControls } from "./useControls";
import { useLiveRun } from "./useLiveRun";

const DecisionPanel = lazy(part(() => import("./verdict/DecisionPanel").then((m) => ({ default: m.DecisionPanel }))));
const FiguresPanel = lazy(part(() => import("./verdict/FiguresPanel").then((m) => ({ default: m.FiguresPanel }))));
const PeoplePanel = lazy(part(() => import("./PeoplePanel").then((m) => ({ default: m.PeoplePanel }))));
const AnswersPanel = lazy(part(() => import("./answers/AnswersPanel").then((m) => ({ default: m.AnswersPanel }))));
const MatrixPanel = lazy(part(() => import("./matrix/MatrixPanel").then((m) => ({ default: m.MatrixPanel }))));
const DocumentsPanel = lazy(
  part(() => import("./documents/DocumentsPanel").then((m) => ({ default: m.DocumentsPanel }))),
);
const JudgesPanel = lazy(part(() => import("./judges/JudgesPanel").then((m) => ({ default: m.JudgesPanel }))));
const WhatIfPanel = lazy(part(() => import("./what-if/WhatIfPanel").then((m) => ({ default: m.WhatIfPanel }))));
const ReportPanel = lazy(part(() => import("./report/ReportPanel").then((m) => ({ default: m.ReportPanel }))));

/** What there is to see, by tab: a name in the address is that of a view, so that it leads to what it always led to. */
const VIEWS = {
  decision: [["verdict", "Decision"]],
  answers: [
    ["answers", "All"],
    ["documents", "One by one"],
  ],
  people: [["people", "People"]],
  method: [
    ["figures", "Figures"],
    ["judges", "Judges"],
    ["matrix", "Matrix"],
    ["what-if", "What if"],
    ["tasks", "Tasks"],
    ["log", "Log"],
    ["report", "Report"],
  ],
} as const;
type Tab = keyof typeof VIEWS;
type View = (typeof VIEWS)[Tab][number][0];

const TABS: readonly (readonly [Tab, string])[] = [
  ["decision", "Decision"],
  ["answers", "Answers"],
  ["people", "People"],
  ["method", "Method"],
];

function tabOf(view: View): Tab {
  return TABS.find(([tab]) => VIEWS[tab].some(([id]) => id === view))?.[0] ?? "decision";
}

function viewOf(tab: string | undefined, votes: boolean): View {
  const known = TABS.flatMap(([id]) => VIEWS[id].map(([view]): View => view)).find((view) => view === tab);
  // Votes had their place among the judges once.
  return votes ? "people" : (known ?? "verdict");
}

/** The views that are about all rounds. The others show one, the present or an earlier one as it was. */
const OF_ALL_ROUNDS: ReadonlySet<View> = new Set(["tasks", "log"]);

const route = getRouteApi("/runs/$runId");

export function RunPage() {
  const { runId } = route.useParams();
  const query = useQuery(runQuery(useApi(), runId));
  if (!query.data)
    return (
      <Page title="Comparison" back={{ to: "/runs", label: "Comparisons" }}>
        {query.error instanceof ApiError && query.error.status === 404 ? (
          <Empty
            title="There is no such comparison"
            action={
              <Link to="/runs" className="btn">
                Show all comparisons
              </Link>
            }
          >
            It was deleted, or the address is incomplete.
          </Empty>
        ) : (
          <QueryView query={query}>{() => null}</QueryView>
        )}
      </Page>
    );
  // Another run mounts a new page, so that no state of the last one is left.
  return <Shown key={runId} run={query.data} />;
}

function Shown({ run }: { run: Run }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const formats = useFormats();
  const live = useLiveRun(run.id, hasEnded(run.state));
  const controls = useControls(run.id);
  const view = viewOf(search.tab, search.vote === "now");
  const tab = tabOf(view);
  const views: readonly (readonly [View, string])[] = VIEWS[tab];
  const look = (next: View) => void navigate({ search: { ...search, tab: next }, replace: true });
  const { comparison, scoring } = run.configuration;
  // Whoever judges can be checked by people. A later round may bring the first judges.
  const tabs = TABS.filter(([id]) => id !== "people" || tab === id || comparison || scoring || run.round > 1);
  const panel = (
    <Suspense fallback={<Skeleton />}>
      <Panel run={run} view={view} live={live} controls={controls} />
    </Suspense>
  );
  const badge = (
    <>
      <RunState state={run.state} />
      <Labels tags={run.tags} pinned={run.pinned} />
    </>
  );
  return (
    <Page
      title={run.name}
      badge={badge}
      news={newsOf(run, formats)}
      back={{ to: "/runs", label: "Comparisons" }}
      actions={<RunActions run={run} controls={controls} />}
    >
      <PauseNote run={run} />
      <EndingsOf configuration={run.configuration} />
      {hasEnded(run.state) && run.configuration.output?.destination === "github" && <DeliveryNote run={run} />}
      {!hasEnded(run.state) && <LivePanel run={run} live={live} />}
      {run.state === "running" && <LiveAnswers run={run} answers={live.answers} />}
      <TabStrip
        label="What to see of the comparison"
        tabs={tabs}
        chosen={tab}
        onChoose={(next) => look(VIEWS[next][0][0])}
      >
        <TabPanel key={tab} id={tab}>
          {views.length === 1 ? (
            panel
          ) : (
            <TabStrip
              label={tab === "method" ? "Parts of the method" : "Answers"}
              tabs={views}
              chosen={view}
              onChoose={look}
            >
              <TabPanel key={view} id={view}>
                {panel}
              </TabPanel>
            </TabStrip>
          )}
        </TabPanel>
      </TabStrip>
    </Page>
  );
}

interface PanelProps {
  run: Run;
  view: View;
  live: ReturnType<typeof useLiveRun>;
  controls: ReturnType<typeof useControls>;
}

function Panel({ run, view, live, controls }: PanelProps) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const report = useQuery({
    ...reportQuery(useApi(), run.id, search.against, run.state === "running", roundOf(search.round)),
    enabled: !OF_ALL_ROUNDS.has(view),
  });
  const refine = (changes: Partial<Record<keyof typeof search, string | undefined>>) =>
    void navigate({ search: (now) => given({ ...now, ...changes }), replace: true });
  const openDocument = (document: string) =>
    void navigate({ search: (now) => ({ ...now, tab: "documents", document }), replace: view === "documents" });
  const compareWith = (against: string | undefined) => refine({ against });
  if (view === "tasks")
    return <TasksPanel run={run} controls={controls} kind={search.kind} state={search.state} onFilter={refine} />;
  if (view === "log")
    return (
      <LogPanel
        run={run}
        live={live}
        controls={controls}
        level={search.level}
        words={search.find ?? ""}
        onFilter={refine}
      />
    );
  return (
    <>
      {report.data && <RoundChoice report={report.data} onChoose={(chosen) => refine({ round: chosen })} />}
      <QueryView query={report} lines={8}>
        {(data) => {
          if (view === "report") return <ReportPanel run={run} report={data} />;
          if (view === "verdict")
            return (
              <DecisionPanel
                run={run}
                report={data}
                onOpen={(document, left, right) =>
                  void navigate({ search: (now) => given({ ...now, tab: "documents", document, left, right }) })
                }
              />
            );
          if (view === "figures")
            return (
              <FiguresPanel
                run={run}
                report={data}
                against={search.against}
                onAgainst={compareWith}
                split={search.split}
                onSplit={(split) => refine({ split })}
              />
            );
          if (view === "answers")
            return (
              <AnswersPanel
                report={data}
                onOpen={(document, left) =>
                  void navigate({
                    search: (now) => given({ ...now, tab: "documents", document, left, right: undefined }),
                  })
                }
              />
            );
          if (view === "matrix") return <MatrixPanel report={data} onOpen={openDocument} />;
          if (view === "documents")
            return (
              <DocumentsPanel
                report={data}
                document={search.document}
                left={search.left}
                right={search.right}
                onOpen={openDocument}
                onPair={refine}
              />
            );
          if (view === "judges") return <JudgesPanel run={run} report={data} />;
          if (view === "people")
            return (
              <PeoplePanel
                run={run}
                report={data}
                votes={search.vote === "now"}
                onVoted={() => refine({ tab: "people", vote: undefined })}
              />
            );
          return (
            <WhatIfPanel run={run} report={data} weights={search.weights} onWeigh={(weights) => refine({ weights })} />
          );
        }}
      </QueryView>
    </>
  );
}

/** The number of a round, if the address names one. */
function roundOf(round: string | undefined): number | undefined {
  const number = Number(round);
  return Number.isInteger(number) && number > 0 ? number : undefined;
}

/** The progress of a run, or why it stopped, for the title of a window that is not in front. */
function newsOf(run: Run, formats: ReturnType<typeof useFormats>): string | undefined {
  if (run.state === "pending") return undefined;
  return run.state === "running" ? formats.percent(run.progress.percent / 100) : wordsForRun(run.state);
}
