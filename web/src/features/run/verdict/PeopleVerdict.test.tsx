import { cleanup } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import type { Report } from "../../../api/types";
import { renderPage } from "../../../testing/renderPage";
import { PeopleVerdict } from "./PeopleVerdict";

afterEach(cleanup);

type People = NonNullable<Report["people"]>;

const SAID: People = {
  sentence: "By votes on 20 documents, corrected by the judges on all, people would call A best.",
  notes: ["The judges alone put B first."],
  best: "A",
  leaders: ["A"],
  voted: 20,
  documents: 60,
  votes: 40,
  voters: 2,
  rows: [
    { candidate: "A", share: 0.7, low: 0.58, high: 0.82, alone: 0.75, judges: 0.4, documents: 20, is_best: true },
    { candidate: "B", share: 0.3, low: 0.18, high: 0.42, alone: 0.25, judges: 0.6, documents: 20, is_best: false },
  ],
  pairs: [],
  agreement: { value: 0.5, reason: null, judges: 2, units: 20 },
  stand_ins: [{ judge: "reader", voters: 3, replaces: 2, advantage: 0.9, passes: true }],
};

const CANDIDATES = [{ candidate: "A" }, { candidate: "B" }] as unknown as Report["candidates"];

test("people's shares stand beside those of the votes and of the judges", async () => {
  const page = await renderPage(<PeopleVerdict people={SAID} candidates={CANDIDATES} />);
  const [first] = [...page.querySelectorAll("tbody tr")].map((row) => row.textContent);
  expect(first).toMatch(/^ A best70.?%58.?% to 82.?%75.?%40.?%$/);
  expect(page.textContent).toContain(SAID.sentence);
  expect(page.textContent).toMatch(/40 blind votes of 2 people on 20 of 60 documents\..*α.=.0\.5/);
  expect(page.textContent).toMatch(/reader may stand in for a person: .* 2 of the 3 voters/);
});

test("too few votes show no share", async () => {
  const rows = SAID.rows.map(({ candidate }) => ({ candidate, share: null }));
  const page = await renderPage(
    <PeopleVerdict people={{ ...SAID, rows, voters: 1, agreement: null, stand_ins: [] }} candidates={CANDIDATES} />,
  );
  expect(page.querySelector("table")).toBeNull();
  expect(page.textContent).toContain("of one person on");
});
