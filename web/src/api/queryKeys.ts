/**
 * The keys of everything that is kept in the query cache. A key begins with the key of what it belongs to, so that
 * invalidating the shorter one asks for both again.
 */
import type { Configuration, ContentType, Entry, RunState, Task } from "./types";

export const queryKeys = {
  me: ["me"],
  settings: ["settings"],
  ledger: ["ledger"],
  sessions: ["sessions"],
  programKeys: ["program-keys"],
  usage: (span: { from?: string; to?: string }) => ["usage", span],
  /** What a content, a preset or a run is called that uses a text. */
  name: (kind: string, id: string) => ["name", kind, id],

  models: {
    all: ["models"],
    one: (name: string) => ["models", name],
    /** Of the built-in models, of own servers, and of every stored key. */
    offered: ["models", "offered"],
    endings: (names: readonly string[]) => ["models", "endings", names],
  },
  modelPrices: ["model-prices"],
  judges: ["judges"],
  judgeCheckCost: (model: string) => ["judges", "check-cost", model],
  /** Checks of judges change who judges by default. */
  defaultJudges: (candidates: readonly string[]) => ["judges", "default", candidates],
  leaderboard: (like: string | undefined) => ["leaderboard", like ?? null],
  providerKeys: ["provider-keys"],
  rateLimits: ["rate-limits"],

  contents: {
    all: ["contents"],
    list: (filter: { type?: ContentType | undefined; tag?: string | undefined; q?: string | undefined }) => [
      "contents",
      "list",
      filter,
    ],
    choice: (type: ContentType) => ["contents", "choice", type],
    counts: ["contents", "counts"],
  },
  content: {
    one: (id: string) => ["content", id],
    text: (id: string) => ["content", id, "text"],
    versions: (id: string) => ["content", id, "versions"],
    version: (id: string, version: number) => ["content", id, "version", version],
    resolved: (id: string, version: number, variables: Readonly<Record<string, string>>) => [
      "content",
      id,
      "resolved",
      version,
      variables,
    ],
  },
  /** Criteria in YAML, as rows. */
  criteriaRows: (body: string) => ["criteria-rows", body],
  documents: ["documents"],
  documentPage: (id: string, number: number) => ["documents", id, "page", number],
  dataSets: ["data-sets"],
  dataSet: {
    one: (id: string) => ["data-set", id],
    versions: (id: string) => ["data-set", id, "versions"],
    rows: (id: string, version: number) => ["data-set", id, "rows", version],
    sample: (id: string, version: number) => ["data-set", id, "sample", version],
  },

  github: {
    connections: ["github"],
    tree: (connection: string, path: string, commit: string | undefined) => [
      "github",
      connection,
      "tree",
      path,
      commit,
    ],
  },

  presets: ["presets"],
  drafts: ["drafts"],
  /** The one with which a page begins, which nothing renews while the page is open. */
  openedDraft: (wanted: { draftId: string } | { presetId: string } | { form: "comparison" }) => [
    "opened-draft",
    wanted,
  ],
  preset: {
    /** Each preset with its estimates. */
    each: ["preset"],
    one: (id: string) => ["preset", id],
    trends: (id: string, question: { candidate?: string | undefined; baseline?: string | undefined }) => [
      "preset",
      id,
      "trends",
      question,
    ],
    dryRun: (id: string, version: number, variables: Readonly<Record<string, string>>) => [
      "preset",
      id,
      "dry-run",
      version,
      variables,
    ],
  },
  /** The dry run of a configuration that is still being written. */
  rehearsals: ["rehearsal"],
  rehearsal: (configuration: Configuration) => ["rehearsal", configuration],

  runs: {
    all: ["runs"],
    list: (state: RunState | undefined) => ["runs", "list", { state }],
    count: ["runs", "count"],
    latest: ["runs", "latest"],
  },
  run: {
    one: (id: string) => ["run", id],
    /** The report as data, whatever run it is compared with. */
    reports: (id: string) => ["run", id, "report"],
    report: (id: string, against: string | undefined, round?: number) => ["run", id, "report", { against, round }],
    document: (id: string, number: number, round?: number) => ["run", id, "report", "document", number, round],
    /** The names of documents, which no judgement changes. */
    names: (id: string, documents: readonly number[]) => ["run", id, "names", documents],
    /** The figures of all answers, which are made of the same rows. */
    figures: (id: string, round?: number) => ["run", id, "report", "figures", round],
    beginnings: (id: string, documents: readonly number[]) => ["run", id, "report", "beginnings", documents],
    found: (id: string, words: string) => ["run", id, "report", "found", words],
    reportPage: (id: string, column: string, round?: number) => ["run", id, "report-page", column, round],
    ranking: (id: string, weights: Readonly<Record<string, number>> | undefined, round?: number) => [
      "run",
      id,
      "ranking",
      weights ?? null,
      round,
    ],
    split: (id: string, column: string | undefined, round?: number) => ["run", id, "split", column ?? null, round],
    gate: (id: string, question: { baseline: string; candidate: string; margin: number }, round?: number) => [
      "run",
      id,
      "gate",
      question,
      round,
    ],
    tasks: (id: string, filter: { kind?: Task["kind"] | undefined; state?: Task["state"] | undefined }) => [
      "run",
      id,
      "tasks",
      filter,
    ],
    logs: (id: string, level: Entry["level"] | undefined) => ["run", id, "logs", { level }],
    /** The tasks that make answers. */
    answers: (id: string) => ["run", id, "answers"],
    generated: (id: string, generatedId: string) => ["run", id, "generated", generatedId],
    delivery: (id: string) => ["run", id, "delivery"],
    notes: (id: string) => ["run", id, "notes"],
    votes: (id: string) => ["run", id, "votes"],
    /** From the reasons of votes and from notes: who changes notes has to ask for it anew. */
    criteriaProposal: (id: string, half = false) => [
      ...["run", id, "votes", "criteria-proposal"],
      ...(half ? ["half"] : []),
    ],
    againstJudges: (id: string, round?: number) => ["run", id, "votes", "against-judges", round],
    voteCount: (id: string, voter: string) => ["run", id, "votes", "count", voter],
    ballot: (id: string, voter: string, visit: string, given: number) => ["run", id, "ballot", voter, visit, given],
  },
} as const;
