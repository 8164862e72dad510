import { QueryClient } from "@tanstack/react-query";
import { expect, test } from "vitest";
import { queryKeys } from "./queryKeys";
import type { Configuration } from "./types";

const { contents, content, github, models, preset, run, runs } = queryKeys;

const OF_A_RUN = [
  run.reports("a"),
  run.report("a", undefined),
  run.report("a", "b"),
  run.reportPage("a", "lang"),
  run.ranking("a", undefined),
  run.ranking("a", { judge: 2 }),
  run.tasks("a", {}),
  run.tasks("a", { kind: "score" }),
  run.logs("a", undefined),
  run.logs("a", "warning"),
  run.delivery("a"),
  run.votes("a"),
  run.voteCount("a", ""),
  run.voteCount("a", "Ann"),
  run.ballot("a", "", "v", 0),
  run.ballot("a", "", "v", 1),
  run.ballot("a", "Ann", "v", 1),
];
const OF_A_CONTENT = [
  content.versions("a"),
  content.version("a", 1),
  content.version("a", 2),
  content.resolved("a", 1, {}),
];
const NESTED: [string, readonly unknown[], readonly (readonly unknown[])[]][] = [
  ["a run", run.one("a"), OF_A_RUN],
  ["the lists of runs", runs.all, [runs.list(undefined), runs.list("paused"), runs.count, runs.latest]],
  ["a content", content.one("a"), OF_A_CONTENT],
  [
    "the lists of contents",
    contents.all,
    [contents.list({}), contents.list({ q: "a" }), contents.choice("criteria"), contents.counts],
  ],
  ["a preset", preset.one("a"), [preset.dryRun("a", 1, {}), preset.dryRun("a", 2, {})]],
  ["the models", models.all, [models.one("local:lexrank"), models.offered]],
  ["the connections to GitHub", github.connections, [github.tree("a", "", undefined)]],
];

function keysUnder(queries: QueryClient, queryKey: readonly unknown[]) {
  return queries.getQueriesData({ queryKey }).map(([key]) => key);
}

test.each(NESTED)("what invalidates %s reaches all that belongs to it, and nothing else", (_what, above, below) => {
  const queries = new QueryClient();
  for (const [, otherAbove, otherBelow] of NESTED)
    for (const key of [otherAbove, ...otherBelow]) queries.setQueryData(key, true);
  for (const key of [run.one("b"), run.logs("b", undefined), content.versions("b"), preset.one("b")])
    queries.setQueryData(key, true);
  const found = keysUnder(queries, above);
  expect(found).toHaveLength(1 + below.length);
  expect(found).toEqual(expect.arrayContaining([above, ...below]));
});

test("no two questions share a key", () => {
  const alone = [
    queryKeys.me,
    queryKeys.settings,
    queryKeys.ledger,
    queryKeys.usage({}),
    queryKeys.name("preset", "a"),
    queryKeys.documents,
    queryKeys.presets,
    queryKeys.providerKeys,
    queryKeys.rateLimits,
    queryKeys.rehearsal({ inputs: [] } as unknown as Configuration),
  ];
  const all = [...alone, ...NESTED.flatMap(([, above, below]) => [above, ...below])].map((key) => JSON.stringify(key));
  expect(new Set(all).size).toBe(all.length);
});

test("a new vote makes the report old, with whatever run it was compared, but not the page of the report", () => {
  const queries = new QueryClient();
  for (const key of OF_A_RUN) queries.setQueryData(key, true);
  expect(keysUnder(queries, run.reports("a"))).toEqual([
    run.reports("a"),
    run.report("a", undefined),
    run.report("a", "b"),
  ]);
});
