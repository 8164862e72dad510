/** The ranking: a bar and a mark in the colour of each candidate, whatever the order. */
import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import type { Report } from "../../api/types";
import { renderPage } from "../../testing/renderPage";
import { rankedIn } from "./ranked";
import { RankingTable } from "./RankingTable";

afterEach(cleanup);

const candidate = (name: string) => ({ candidate: name, model: name, answers: 1, delivered: 1, mean_words: 10 });
const row = (name: string, place: number, win_share: number) => ({
  ...{ candidate: name, place, win_share, low: win_share - 0.1, high: win_share + 0.1 },
  ...{ panel_low: win_share - 0.2, panel_high: win_share + 0.2 },
});
const REPORT = {
  run: { median_ms: { mmr: 800 } },
  checks: {
    checks: [{ name: "is JSON", kind: "json", required: true, share: false }],
    rows: [
      { candidate: "lead", required: { share: 0.9, documents: 30, low: 0.8, high: 0.95 } },
      { candidate: "mmr", required: { share: 1, documents: 30, low: 0.9, high: 1 } },
    ].map((row) => ({ ...row, mean: row.required, rates: [row.required] })),
  },
  candidates: [candidate("lead"), candidate("mmr")],
  ranking: { basis: "comparisons", rows: [row("mmr", 1, 0.7), row("lead", 2, 0.3)] },
} as unknown as Report;

const looks = (selector: string) => [...document.querySelectorAll(`tbody ${selector}`)].map((one) => one.classList[1]);

test("the bar of a candidate has the colour of its mark, also when the table is sorted", async () => {
  await renderPage(<RankingTable report={REPORT} ranking={REPORT.ranking} grey={false} />);
  expect(looks(".interval")).toEqual(["series-2", "series-1"]);
  fireEvent.click(screen.getByRole("button", { name: "Candidate" }));
  expect(looks(".interval")).toEqual(["series-1", "series-2"]);
  expect(document.querySelector("tbody .candidate-mark")?.classList).toContain("series-1");
});

test("an interval is told from its one end to the other", async () => {
  const page = await renderPage(<RankingTable report={REPORT} ranking={REPORT.ranking} grey={false} />);
  const text = page.textContent.replaceAll("\u00a0", " ");
  expect(text).toContain("70 %60 % to 80 %other judges: 50 % to 90 %");
  expect(text).toContain("30 %20 % to 40 %other judges: 10 % to 50 %");
});

test("bars that support no conclusion are grey", async () => {
  await renderPage(<RankingTable report={REPORT} ranking={REPORT.ranking} grey />);
  expect(looks(".interval")).toEqual(["grey", "grey"]);
});

test("a host that is not the provider’s own belongs to the model’s name, also where the label is that name", async () => {
  const candidates = [{ ...candidate("lead"), host: "llm.example.org" }, candidate("mmr")];
  const page = await renderPage(
    <RankingTable report={{ ...REPORT, candidates } as Report} ranking={REPORT.ranking} grey={false} />,
  );
  expect(page.textContent).toContain("lead at llm.example.org");
  expect(page.textContent).not.toContain("mmr at");
});

test("checks are columns, and rank where nobody judged", async () => {
  const bare = { candidate: "", place: null, win_share: null };
  const ranking = {
    basis: "checks",
    rows: [
      { ...bare, candidate: "lead" },
      { ...bare, candidate: "mmr" },
    ],
  };
  const report = { ...REPORT, ranking } as unknown as Report;
  const page = await renderPage(<RankingTable report={report} ranking={rankedIn(report)} grey={false} />);
  const rows = [...page.querySelectorAll("tbody tr")].map((row) => row.textContent.replaceAll("\u00a0", " "));
  expect(rows[0]).toMatch(/Place 1 .*mmr.*100 %90 % to 100 %.*30\/30 ✓.*0.8 s/);
  expect(rows[1]).toMatch(/Place 2 .*lead.*90 %80 % to 95 %.*27\/30 ✗/);
});
