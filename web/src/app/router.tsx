/**
 * Every page: its address, and what the navigation calls it if it is a place there. Addresses live behind the `#`, so
 * that they work under any path of any host.
 */
import { BookOpen, FlaskConical, Library, Settings, Trophy } from "lucide-react";
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { ErrorNote, Empty, Skeleton } from "../components/Feedback";
import { part } from "../lib/part";
import { makeHistory } from "./history";
import { Shell } from "./Shell";

const root = createRootRoute({
  component: Shell,
  notFoundComponent: () => <Empty title="There is no such page">Check the address for typing errors.</Empty>,
});

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/runs" });
  },
});

const runs = createRoute({
  getParentRoute: () => root,
  path: "/runs",
  staticData: { navigation: { label: "Comparisons", icon: FlaskConical, covers: ["/compare", "/presets"] } },
  // `sort` and `columns` are those of the table, here and below.
  validateSearch: texts("state", "find", "sort", "columns"),
  component: lazyRouteComponent(
    part(() => import("../features/runs/RunsPage")),
    "RunsPage",
  ),
});

const run = createRoute({
  getParentRoute: () => root,
  path: "/runs/$runId",
  // `left` and `right` are candidates, `weights` those of the judges, `split` a column of the rows; `round` is an earlier one;
  // `vote` opens a ballot; the rest are filters of the tasks and the log.
  validateSearch: texts(
    "tab",
    "document",
    "left",
    "right",
    "against",
    "split",
    "round",
    "kind",
    "state",
    "level",
    "find",
    "weights",
    "vote",
  ),
  component: lazyRouteComponent(
    part(() => import("../features/run/RunPage")),
    "RunPage",
  ),
});

const beside = createRoute({
  getParentRoute: () => root,
  path: "/runs/compare/$here/$there",
  component: lazyRouteComponent(
    part(() => import("../features/run/beside/BesidePage")),
    "BesidePage",
  ),
});

const compare = createRoute({
  getParentRoute: () => root,
  path: "/compare",
  // Without a `draft` it goes on with what was begun last.
  validateSearch: texts("draft"),
  component: lazyRouteComponent(
    part(() => import("../features/presets/compare/ComparePage")),
    "ComparePage",
  ),
});

const presets = createRoute({
  getParentRoute: () => root,
  path: "/presets",
  validateSearch: texts("find"),
  component: lazyRouteComponent(
    part(() => import("../features/presets/PresetsPage")),
    "PresetsPage",
  ),
});

const preset = createRoute({
  getParentRoute: () => root,
  path: "/presets/$presetId",
  validateSearch: texts("part"),
  beforeLoad: refuseNew,
  component: lazyRouteComponent(
    part(() => import("../features/presets/PresetPage")),
    "PresetPage",
  ),
});

const trends = createRoute({
  getParentRoute: () => root,
  path: "/presets/$presetId/trends",
  // `measure` is what is drawn: a check by its name, or one of the shares.
  validateSearch: texts("candidate", "baseline", "measure"),
  component: lazyRouteComponent(
    part(() => import("../features/presets/trends/TrendsPage")),
    "TrendsPage",
  ),
});

const library = createRoute({
  getParentRoute: () => root,
  path: "/library",
  staticData: { navigation: { label: "Library", icon: Library } },
  validateSearch: texts("type", "tag", "sort", "columns"),
  component: lazyRouteComponent(
    part(() => import("../features/library/LibraryPage")),
    "LibraryPage",
  ),
});

const content = createRoute({
  getParentRoute: () => root,
  path: "/library/$contentId",
  // `votes` is a run: a new text begins as the criteria that its votes ask for, with `half` those on half of its documents.
  validateSearch: texts("type", "votes", "half"),
  component: lazyRouteComponent(
    part(() => import("../features/library/ContentPage")),
    "ContentPage",
  ),
});

const dataSets = createRoute({
  getParentRoute: () => root,
  path: "/library/data-sets",
  component: lazyRouteComponent(
    part(() => import("../features/library/data-sets/DataSetsPage")),
    "DataSetsPage",
  ),
});

const dataSet = createRoute({
  getParentRoute: () => root,
  path: "/library/data-sets/$dataSetId",
  component: lazyRouteComponent(
    part(() => import("../features/library/data-sets/DataSetPage")),
    "DataSetPage",
  ),
});

const models = createRoute({
  getParentRoute: () => root,
  path: "/models",
  staticData: { navigation: { label: "Models", icon: BookOpen } },
  validateSearch: texts("tab", "find", "only"),
  component: lazyRouteComponent(
    part(() => import("../features/models/ModelsPage")),
    "ModelsPage",
  ),
});

const leaderboard = createRoute({
  getParentRoute: () => root,
  path: "/leaderboard",
  staticData: { navigation: { label: "Leaderboard", icon: Trophy } },
  // `run` is one of the ranking that is shown; `sort` and `columns` are those of the table.
  validateSearch: texts("run", "sort", "columns"),
  component: lazyRouteComponent(
    part(() => import("../features/leaderboard/LeaderboardPage")),
    "LeaderboardPage",
  ),
});

const account = createRoute({
  getParentRoute: () => root,
  path: "/account",
  staticData: { navigation: { label: "Settings", icon: Settings } },
  validateSearch: texts("tab"),
  component: lazyRouteComponent(
    part(() => import("../features/account/AccountPage")),
    "AccountPage",
  ),
});

const tree = root.addChildren([
  home,
  runs,
  run,
  beside,
  compare,
  presets,
  preset,
  trends,
  library,
  content,
  dataSets,
  dataSet,
  models,
  leaderboard,
  account,
]);

export function makeRouter() {
  return createRouter({
    routeTree: tree,
    history: makeHistory(),
    defaultPreload: "intent",
    defaultPendingComponent: () => <Skeleton />,
    defaultErrorComponent: ({ error, reset }) => <ErrorNote error={error} onRetry={reset} />,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
}

/** New presets once had a form of their own. */
function refuseNew({ params }: { params: { presetId: string } }): void {
  if (params.presetId === "new") throw redirect({ to: "/compare", replace: true });
}

/** Search parameters that are texts; what else an address says is dropped. */
function texts<K extends string>(
  ...keys: readonly K[]
): (search: Record<string, unknown>) => Partial<Record<K, string>> {
  return (search) => {
    const found: Partial<Record<K, string>> = {};
    for (const key of keys) {
      const value = search[key];
      // A number in an address is read as one.
      if ((typeof value === "string" && value) || typeof value === "number") found[key] = `${value}`;
    }
    return found;
  };
}
