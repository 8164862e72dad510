/** Where everything is. Addresses live behind the `#`, so that they work under any path of any host. */
import { createHashHistory, createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { ErrorNote, Empty, Skeleton } from "../components/Feedback";
import { part } from "../lib/part";
import { Shell } from "./Shell";

const root = createRootRoute({ component: Shell, notFoundComponent: () => <Empty title="There is no such page">The address may be mistyped.</Empty> });

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
  validateSearch: (search: Record<string, unknown>): { state?: string } => text(search, "state"),
  component: lazyRouteComponent(part(() => import("../features/runs/RunsPage")), "RunsPage"),
});

const run = createRoute({
  getParentRoute: () => root,
  path: "/runs/$runId",
  validateSearch: (search: Record<string, unknown>): { tab?: string; document?: string; against?: string } => ({
    ...text(search, "tab"),
    ...text(search, "document"),
    ...text(search, "against"),
  }),
  component: lazyRouteComponent(part(() => import("../features/run/RunPage")), "RunPage"),
});

const presets = createRoute({
  getParentRoute: () => root,
  path: "/presets",
  component: lazyRouteComponent(part(() => import("../features/presets/PresetsPage")), "PresetsPage"),
});

const preset = createRoute({
  getParentRoute: () => root,
  path: "/presets/$presetId",
  component: lazyRouteComponent(part(() => import("../features/presets/PresetPage")), "PresetPage"),
});

const library = createRoute({
  getParentRoute: () => root,
  path: "/library",
  validateSearch: (search: Record<string, unknown>): { type?: string; tag?: string } => ({
    ...text(search, "type"),
    ...text(search, "tag"),
  }),
  component: lazyRouteComponent(part(() => import("../features/library/LibraryPage")), "LibraryPage"),
});

const content = createRoute({
  getParentRoute: () => root,
  path: "/library/$contentId",
  validateSearch: (search: Record<string, unknown>): { type?: string } => text(search, "type"),
  component: lazyRouteComponent(part(() => import("../features/library/ContentPage")), "ContentPage"),
});

const models = createRoute({
  getParentRoute: () => root,
  path: "/models",
  validateSearch: (search: Record<string, unknown>): { tab?: string } => text(search, "tab"),
  component: lazyRouteComponent(part(() => import("../features/models/ModelsPage")), "ModelsPage"),
});

const account = createRoute({
  getParentRoute: () => root,
  path: "/account",
  validateSearch: (search: Record<string, unknown>): { tab?: string } => text(search, "tab"),
  component: lazyRouteComponent(part(() => import("../features/account/AccountPage")), "AccountPage"),
});

const tree = root.addChildren([home, runs, run, presets, preset, library, content, models, account]);

export function makeRouter() {
  return createRouter({
    routeTree: tree,
    history: createHashHistory(),
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

/** A search parameter that is a text; others are dropped. */
function text<K extends string>(search: Record<string, unknown>, key: K): Partial<Record<K, string>> {
  const value = search[key];
  return typeof value === "string" && value ? ({ [key]: value } as Partial<Record<K, string>>) : {};
}
