import { cleanup, fireEvent } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import type { TrendPoint, Trends } from "../../../api/types";
import { renderPage } from "../../../testing/renderPage";
import { measuresOf } from "./measures";
import { TrendsView } from "./TrendsView";

afterEach(cleanup);

const rate = (share: number) => ({ share, low: share - 0.1, high: share + 0.1, documents: 40, missing: 0 });
const point = (run: string, passes: number, changes: Partial<TrendPoint> = {}): TrendPoint => ({
  run,
  name: `Night ${run}`,
  created_at: "2026-11-20T01:00:00Z",
  finished_at: null,
  changed: [],
  data_set_version: null,
  documents: 40,
  outcome: "nothing",
  best: null,
  basis: "checks",
  preferred: null,
  passes: rate(passes),
  checks: [{ check: "is JSON", rate: rate(passes) }],
  cost: "0.25",
  unknown_calls: 0,
  cost_per_answer: null,
  median_latency_ms: 1300,
  gate: null,
  against: null,
  fell: [],
  good: true,
  ...changes,
});
const TRENDS: Trends = {
  preset_id: "p",
  candidate: "new",
  baseline: null,
  margin: 0.05,
  candidates: ["new", "today"],
  checks: ["is JSON"],
  points: [point("3", 0.4, { good: false, fell: ["is JSON"], changed: ["prompts"] }), point("2", 0.8), point("1", 0.8)],
  last_good: "2",
  rule: "A run is good if it is.",
  left_out: 4,
};
const shown = (trends: Trends, onChoose = vi.fn()) =>
  renderPage(<TrendsView trends={trends} chosen={{}} onChoose={onChoose} />);
const textOf = (element: Element | null) => element?.textContent.replaceAll(/[  ]/g, " ");

test("the last good run is named, the runs are listed newest first, and the chart draws them oldest first", async () => {
  const page = await shown(TRENDS);
  expect(textOf(page.querySelector("[aria-label='The last good run']"))).toMatch(
    /^The last good run is Night 2 of .*\.A run is good if it is\.$/,
  );
  const rows = [...page.querySelectorAll("tbody tr")].map((row) => [...row.children].map(textOf));
  expect(rows.map((cells) => cells[0]?.slice(0, 7))).toEqual(["Night 3", "Night 2", "Night 1"]);
  expect(rows[0]?.slice(1)).toEqual([
    "40\u00a0%30\u00a0% to 50\u00a0%",
    "worseis JSON",
    "prompts",
    "40",
    "$0.25",
    "1.3 s",
  ]);
  const chart = page.querySelector("svg[role='img']");
  expect(chart?.getAttribute("aria-label")).toBe("Check: is JSON of new in 3 runs");
  expect(chart?.querySelectorAll("circle")).toHaveLength(2);
  const places = [...(chart?.querySelectorAll("svg") ?? [])].map((one) => [
    one.getAttribute("x")?.slice(0, 2),
    one.querySelector(".cross") ? "worse" : textOf(one),
  ]);
  expect(places).toEqual([
    ["26", ""],
    ["56", "last good"],
    ["85", "worse"],
  ]);
  expect(page.textContent).toContain("4 older runs are not shown.");
});

test("against a baseline the differences are drawn in points, and what cannot be told is not called good", async () => {
  const against = {
    difference: -0.2,
    low: -0.3,
    high: 0.1,
    documents: 40,
    independent: 40,
    outcome: "undecided" as const,
    needed: null,
  };
  const points = [point("1", 0.8, { gate: "undecided", good: null, against, basis: "comparisons" })];
  const page = await shown({ ...TRENDS, baseline: "today", points, last_good: null });
  expect(page.textContent).toContain("No run is known to be good.");
  const cells = [...page.querySelectorAll("tbody tr > *")].map(textOf);
  expect(cells.slice(1, 3)).toEqual(["-20-30 to +10", "cannot be told"]);
});

test("a candidate, a baseline and a measure can be chosen", async () => {
  const onChoose = vi.fn();
  const page = await shown(
    {
      ...TRENDS,
      checks: ["is JSON", "short"],
      points: [point("1", 0.8, { checks: ["is JSON", "short"].map((check) => ({ check, rate: rate(0.5) })) })],
    },
    onChoose,
  );
  const [candidate, baseline, measure] = [...page.querySelectorAll("select")];
  expect([...(measure?.options ?? [])].map(({ text }) => text)).toEqual([
    "Checks passed",
    "Check: is JSON",
    "Check: short",
  ]);
  const change = (select: Element | undefined, value: string) => {
    if (select) fireEvent.change(select, { target: { value } });
  };
  change(candidate, "today");
  change(baseline, "today");
  change(measure, "check:short");
  expect(onChoose.mock.calls).toEqual([
    [{ candidate: "today" }],
    [{ baseline: "today", candidate: "new" }],
    [{ measure: "check:short" }],
  ]);
});

test("only what some run knows can be drawn", () => {
  const bare = point("1", 0, { passes: null, checks: [] });
  expect(measuresOf({ ...TRENDS, points: [bare], checks: [] })).toEqual([]);
  const scored = { ...bare, basis: "scores" as const, preferred: rate(0.5) };
  expect(measuresOf({ ...TRENDS, points: [scored], checks: [] }).map(({ label }) => label)).toEqual(["Score"]);
});

test("one run is no line yet, and one older run is told as one", async () => {
  const trends = { ...TRENDS, points: TRENDS.points.slice(1, 2), left_out: 1 };
  const page = await renderPage(<TrendsView trends={trends} chosen={{}} onChoose={vi.fn()} />);
  expect(page.querySelector("svg[role=img]")).toBeNull();
  expect(page.textContent).toContain("One run so far");
  expect(page.textContent).toContain("1 older run is not shown.");
});
