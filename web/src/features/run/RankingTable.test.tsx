/** The ranking: a bar and a mark in the colour of each candidate, whatever the order. */
import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import type { Report } from "../../api/types";
import { renderPage } from "../../testing/renderPage";
import { RankingTable } from "./RankingTable";

afterEach(cleanup);

const candidate = (name: string) => ({ candidate: name, model: name, answers: 1, delivered: 1, mean_words: 10 });
const row = (name: string, place: number, win_share: number) => ({ candidate: name, place, win_share });
const REPORT = {
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

test("bars that support no conclusion are grey", async () => {
  await renderPage(<RankingTable report={REPORT} ranking={REPORT.ranking} grey />);
  expect(looks(".interval")).toEqual(["grey", "grey"]);
});
