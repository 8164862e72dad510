import { cleanup, fireEvent, screen, within } from "@testing-library/react";
import { useState } from "react";
import { afterEach, expect, test, vi } from "vitest";
import type { BoardCandidate, Leaderboard, Row } from "../../api/types";
import type { TableView } from "../../lib/tableView";
import { renderPage } from "../../testing/renderPage";
import { Boards } from "./LeaderboardPage";

vi.mock("../../components/quality/QualityChart", () => ({
  QualityChart: ({ candidates }: { candidates: readonly BoardCandidate[] }) => <p>chart of {candidates.length}</p>,
}));

afterEach(cleanup);

const run = (id: string, name: string, day: number, preset_id: string | null = null) => ({
  id,
  name,
  finished_at: `2026-11-${day}T10:00:00Z`,
  preset_id,
});
const candidate = (name: string, changes: Partial<BoardCandidate> = {}): BoardCandidate => ({
  candidate: name,
  model: `openai:${name}`,
  host: null,
  runs: ["late"],
  answers: 40,
  delivered: 40,
  mean_words: 60,
  passes: null,
  cost_per_answer: "0.003963",
  median_latency_ms: 4100,
  p95_latency_ms: 12_400,
  ...changes,
});
const row = (name: string, place: number, win_share: number) =>
  ({ candidate: name, place, win_share, low: win_share - 0.1, high: win_share + 0.1, documents: 20 }) as Row;

const BOARD: Leaderboard = {
  runs: [run("late", "Replies, again", 20, "p"), run("early", "Replies", 11, "p")],
  documents: 20,
  judges: ["openai:judge"],
  candidates: [
    candidate("dear", { runs: ["late", "early"] }),
    candidate("cheap", {
      host: "llm.example.org",
      cost_per_answer: "0.0006",
      median_latency_ms: 40,
      p95_latency_ms: null,
      runs: ["early"],
    }),
    candidate("today", { model: null, cost_per_answer: null, median_latency_ms: null, p95_latency_ms: null }),
  ],
  verdict: { outcome: "decided", sentence: "dear is best.", scope: "about these", notes: ["Few."], grey: false },
  ranking: { basis: "comparisons", rows: [row("dear", 1, 0.86), row("today", 2, 0.5), row("cheap", 3, 0.14)] },
  human: null,
  people: null,
  note: "Exploratory: it may be chance.",
  others: [
    { runs: [run("other", "Letters", 15)], documents: 1, judges: [], labels: ["one", "two"] },
    { runs: [run("newest", "Talks", 24)], documents: 9, judges: ["j", "k"], labels: ["three"] },
  ],
  left_out: 3,
} as unknown as Leaderboard;

/** The page with its table's view, which stands in the address otherwise. */
function Shown({ board, onGroup }: { board: Leaderboard; onGroup: (run: string) => void }) {
  const [view, setView] = useState<TableView>({ isDescending: false });
  return <Boards board={board} view={view} onView={setView} onGroup={onGroup} />;
}
const shown = (board = BOARD, onGroup = vi.fn()) => renderPage(<Shown board={board} onGroup={onGroup} />);
const textOf = (element: Element | null) => element?.textContent.replaceAll(/[\u00a0\u202f]/g, " ").trim();
const rows = () =>
  within(screen.getByRole("table"))
    .getAllByRole("row")
    .slice(1)
    .map((one) => [...one.children].map(textOf));

test("candidates stand in the order of the ranking, with all that is known of them", async () => {
  await shown();
  expect(screen.getAllByRole("columnheader").map(textOf)).toEqual([
    "Candidate",
    "Preferred",
    "Cost per 1,000",
    "Median time",
    "95 % within",
    "Documents",
    "Comparisons",
    "Last comparison",
  ]);
  expect(rows()).toEqual([
    ["dear openai:dear", "86 %76 % to 96 %", "$3.96", "4.1 s", "12 s", "20", "2", "Nov 20"],
    ["today finished texts", "50 %40 % to 60 %", "unknown", "–", "–", "20", "1", "Nov 20"],
    ["cheap openai:cheap at llm.example.org", "14 %4 % to 24 %", "$0.60", "40 ms", "–", "20", "1", "Nov 11"],
  ]);
  const marks = [...document.querySelectorAll("tbody .candidate-mark")].map((mark) => mark.className);
  // The number of a mark is that of the candidate in the newest run, wherever the ranking puts it.
  expect(marks).toEqual(
    ["shape-0 series-1", "shape-2 series-3", "shape-1 series-2"].map((one) => `candidate-mark ${one}`),
  );
  expect(await screen.findByText("chart of 3")).toBeTruthy();
  expect(screen.getByRole("heading", { name: "Comparisons in this ranking" })).toBeTruthy();
  const doubts = [...document.querySelectorAll(".doubts li")].map(textOf);
  expect(doubts).toEqual(["Exploratory: it may be chance.", "Few."]);
});

test("a head sorts its column, the best end first, and says so; what is unknown comes last", async () => {
  await shown();
  const sort = (name: string) => fireEvent.click(screen.getByRole("button", { name }));
  const names = () => rows().map(([name]) => name?.replace(/ (openai:.*|finished texts)/, ""));
  sort("Cost per 1,000");
  expect(names()).toEqual(["cheap", "dear", "today"]);
  expect(screen.getByRole("columnheader", { name: "Cost per 1,000" }).getAttribute("aria-sort")).toBe("ascending");
  sort("Cost per 1,000");
  expect(names()).toEqual(["dear", "cheap", "today"]);
  sort("Comparisons");
  expect(names()).toEqual(["dear", "today", "cheap"]);
  expect(screen.getByRole("columnheader", { name: "Comparisons" }).getAttribute("aria-sort")).toBe("descending");
});

test("somebody chooses the columns", async () => {
  await shown();
  fireEvent.click(screen.getByRole("button", { name: /^Columns/ }));
  fireEvent.click(screen.getByRole("checkbox", { name: "Words" }));
  fireEvent.click(screen.getByRole("checkbox", { name: "Documents" }));
  const heads = screen.getAllByRole("columnheader").map(textOf);
  expect(heads).toContain("Words");
  expect(heads).not.toContain("Documents");
});

test("rankings are chosen from the newest to the oldest, and each leads to its runs and trends", async () => {
  const onGroup = vi.fn();
  await shown(BOARD, onGroup);
  const choice = screen.getByRole("combobox", { name: "Ranking" });
  expect([...choice.children].map(textOf)).toEqual([
    "Talks (9 documents, 1 run)",
    "Replies, again (20 documents, 2 runs)",
    "Letters (1 document, 1 run)",
  ]);
  fireEvent.change(choice, { target: { value: "newest" } });
  expect(onGroup.mock.calls).toEqual([["newest"]]);
  const links = screen.getAllByRole("link").map((link) => [textOf(link), link.getAttribute("href")]);
  expect(links).toContainEqual(["Replies, again", "/runs/late"]);
  expect(links.filter(([name]) => name?.startsWith("Trends"))).toEqual([
    ["Trends of the preset of Replies, again", "/presets/p/trends"],
  ]);
  expect(links).toContainEqual(["Letters", "/leaderboard?run=other"]);
  expect(screen.getByText("3 older runs are left out.")).toBeTruthy();
});

test("without a finished run there is one thing to do", async () => {
  await shown({ ...BOARD, runs: [], others: [], candidates: [], ranking: null, verdict: null, left_out: 0 });
  expect(screen.getAllByRole("link").map((link) => [textOf(link), link.getAttribute("href")])).toEqual([
    ["New comparison", "/compare"],
  ]);
});

test("without judges nobody is ranked, and checks still tell something", async () => {
  const passes = { share: 0.9, low: 0.7, high: 1, documents: 20, missing: 0 };
  await shown({
    ...BOARD,
    ranking: { basis: "checks", rows: [{ candidate: "dear" }, { candidate: "cheap" }] },
    candidates: [candidate("dear", { passes }), candidate("cheap")],
  } as unknown as Leaderboard);
  expect(screen.getByText(/No judge compared or scored/)).toBeTruthy();
  expect(screen.queryByText(/chart of/)).toBeNull();
  expect(screen.queryByRole("columnheader", { name: "Preferred" })).toBeNull();
  expect(rows().map((cells) => cells[1])).toEqual(["90 %70 % to 100 %", "–"]);
});
