/** Costs and budgets are US dollars. Credits are the balance at the host, of which a dollar may take more or fewer. */
import { cleanup, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, expect, test, vi } from "vitest";
import type { Report, Run } from "../../api/types";
import { renderPage } from "../../testing/renderPage";
import { DocumentsPanel } from "./documents/DocumentsPanel";
import { LivePanel } from "./live/LivePanel";
import { NO_VIEW } from "./liveRun";
import { PauseNote } from "./PauseNote";
import { RankingTable } from "./RankingTable";
import { TasksPanel } from "./tasks/TasksPanel";
import type { Controls } from "./useControls";
import { QualityChart } from "../../components/quality/QualityChart";
import { SpendTable } from "./verdict/SpendTable";
import { VerdictFacts } from "./verdict/VerdictFacts";

// Its rows are as many as fit into its height, and nothing has one here.
vi.mock("../../components/VirtualList", () => ({
  VirtualList: ({ items, render }: { items: readonly unknown[]; render: (item: unknown) => ReactNode }) =>
    items.map((item, at) => <div key={at}>{render(item)}</div>),
}));

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const RUN = {
  id: "r",
  state: "paused",
  pause_reason: "budget",
  quiesced: true,
  preset_id: null,
  created_at: "2026-01-01T00:00:00Z",
  progress: { total: 2, pending: 1, running: 0, succeeded: 1, failed: 0, skipped: 0, cancelled: 0 },
  spend: { cost: "0.0125", unknown_calls: 0 },
  configuration: { inputs: ["d"], generation: { candidates: [] }, limits: { budget: "1.5" } },
} as unknown as Run;

const candidate = (name: string, cost_per_answer: string) =>
  ({ candidate: name, model: name, answers: 1, delivered: 1, mean_words: 10, cost_per_answer }) as const;
const answer = {
  candidate: "dear",
  repeat: 1,
  state: "succeeded",
  delivered: true,
  words: 10,
  cost: "0.02",
  text: "",
  marks: [],
};
const REPORT = {
  run: {},
  candidates: [candidate("dear", "0.02"), candidate("cheap", "0.01")],
  judges: [],
  ranking: {
    basis: "comparisons",
    rows: [
      { candidate: "dear", place: 1, win_share: 0.7 },
      { candidate: "cheap", place: 2, win_share: 0.3 },
    ],
    counts: { planned: 0, missing: 0, invalid: 0 },
  },
  documents: [],
  documents_total: 1,
  spend: {
    cost: "0.0125",
    calls: 1,
    unknown_calls: 0,
    input_tokens: 1,
    output_tokens: 1,
    rows: [
      {
        kind: "generate",
        model: "m",
        calls: 1,
        failed: 0,
        input_tokens: 1,
        output_tokens: 1,
        cost: "0.0125",
        unknown_calls: 0,
      },
    ],
  },
} as unknown as Report;

const DOCUMENT = { document: "d1", name: "d", text: "", flips: 0, answers: [answer], verdicts: [], standing: [] };

const TASK = { key: "k", kind: "score", state: "succeeded", candidate: "dear", attempts: 1, repeat: 1, cost: "0.03" };

const nothing = () => undefined;

const PLACES: [string, ReactNode, string[]][] = [
  ["the ranking", <RankingTable report={REPORT} ranking={REPORT.ranking} grey={false} />, ["$20.00", "$10.00"]],
  [
    "the chart",
    <QualityChart ranking={REPORT.ranking} candidates={REPORT.candidates} />,
    ["dear 70\u00a0% at $20.00", "cheap 30\u00a0% at $10.00"],
  ],
  ["what the run took", <SpendTable spend={REPORT.spend} />, ["$0.0125"]],
  ["the facts of the verdict", <VerdictFacts run={RUN} report={REPORT} />, ["$0.0125"]],
  ["the live view", <LivePanel run={RUN} live={NO_VIEW} />, ["$0.0125", "a budget of $1.50"]],
  [
    "the live view of a run that a look made shorter",
    <LivePanel run={{ ...RUN, progress: { ...RUN.progress, saved: 6, saved_cost: "0.25" } }} live={NO_VIEW} />,
    ["6 of 8", "tasks, about $0.25"],
  ],
  ["the note of a pause", <PauseNote run={RUN} />, ["the $1.50 that you allowed"]],
  [
    "an answer",
    <DocumentsPanel report={REPORT} document="d1" left="dear" right="cheap" onOpen={nothing} onPair={nothing} />,
    ["10 words · $0.02"],
  ],
  [
    "a task",
    <TasksPanel run={RUN} controls={{} as Controls} kind={undefined} state={undefined} onFilter={nothing} />,
    ["$0.03"],
  ],
];

test.each(PLACES)("%s tells dollars, not credits", async (_where, place, amounts) => {
  vi.stubGlobal("fetch", (request: Request) =>
    Promise.resolve(
      Response.json(request.url.endsWith("/answers/1") ? DOCUMENT : { items: [TASK], next_cursor: null }),
    ),
  );
  const page = await renderPage(place);
  await waitFor(() => {
    for (const amount of amounts) expect(page.textContent).toContain(amount);
  });
  expect(page.textContent).not.toMatch(/credit/i);
});

test("a cost of nothing is told as free, in the rows and below them", async () => {
  const spend = { ...REPORT.spend, cost: "0.00", rows: REPORT.spend.rows.map((row) => ({ ...row, cost: "0" })) };
  const run = { ...RUN, state: "completed" } as Run;
  const page = await renderPage(
    <>
      <SpendTable spend={spend} />
      <VerdictFacts run={run} report={{ ...REPORT, spend }} />
    </>,
  );
  await waitFor(() => expect(page.querySelectorAll("tbody tr, tfoot tr")).toHaveLength(2));
  for (const row of page.querySelectorAll("tbody tr, tfoot tr"))
    expect(row.querySelector("td:last-child")?.textContent).toBe("free");
  expect(page.textContent).toContain("Costfree");
  expect(page.textContent).not.toContain("$0.00");
});

test("no zero stands where no cost is known", async () => {
  const unknown = { cost: "0", unknown_calls: 435 };
  const spend = { ...REPORT.spend, ...unknown, rows: REPORT.spend.rows.map((row) => ({ ...row, ...unknown })) };
  const page = await renderPage(<SpendTable spend={spend} />);
  await waitFor(() => expect(page.querySelectorAll("tbody tr, tfoot tr")).toHaveLength(2));
  for (const row of page.querySelectorAll("tbody tr, tfoot tr"))
    expect(row.querySelector("td:last-child")?.textContent).toBe("435 calls of unknown cost");
});

test("a run that lost calls says what going on costs", async () => {
  const page = await renderPage(<PauseNote run={{ ...RUN, pause_reason: "unknown-costs" }} />);
  await waitFor(() => expect(page.textContent).toContain("takes the credits that are held for it"));
});

test("a run that waits for credits says so", async () => {
  const page = await renderPage(<PauseNote run={{ ...RUN, pause_reason: "credits" }} />);
  await waitFor(() => expect(page.textContent).toContain("Get more credits"));
});
