/** Every remark beside a verdict is on its page; tests/reports/doubts.py has a case for each and writes the file. */
import { cleanup } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import type { Report, Run } from "../../../api/types";
import { renderPage } from "../../../testing/renderPage";
import { FiguresPanel } from "./FiguresPanel";
import CASES from "./remarks.json";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const RUN = {
  spend: { cost: "0", unknown_calls: 0 },
  id: "r",
  state: "completed",
  preset_id: null,
  configuration: {},
  progress: { failed: 0 },
} as unknown as Run;
const REPORT = {
  verdict: {
    outcome: "undecided",
    sentence: "A leads.",
    scope: "about documents like these",
    notes: ["By scores, B leads.", "4 missing verdicts could overturn this."],
    checks: ["Without x, A leads as well.", "The longer text won 3 of 9 clear verdicts (33 % by document)."],
    grey: false,
  },
  ranking: {
    basis: "comparisons",
    rows: [{ candidate: "A", place: 1, win_share: 0.6 }],
    counts: { planned: 0 },
    longer_text: { won: 3, of: 9 },
    leaders: ["A"],
    contrasts: [],
  },
  ...{ finished: true, rounds: 1, documents: [], candidates: [], judges: [], human: null, people: null },
  spend: { rows: [], calls: 0, cost: "0", unknown_calls: 0 },
  progress: { total: 1 },
} as unknown as Report;

async function shown(report: Report): Promise<HTMLElement> {
  vi.stubGlobal("fetch", () => Promise.resolve(Response.json({ items: [], next_cursor: null })));
  return renderPage(
    <FiguresPanel
      run={RUN}
      report={report}
      against={undefined}
      onAgainst={() => undefined}
      split={undefined}
      onSplit={() => undefined}
    />,
  );
}

/** As the service wrote it: the page lets no line end before a sign of per cent. */
function listedOn(page: HTMLElement): string[] {
  return [...page.querySelectorAll("li")].map((item) => item.textContent.replaceAll("\u00a0%", " %"));
}

test("every doubt and every check stands among the figures, with the way to the passports", async () => {
  const page = await shown(REPORT);
  const { notes, checks = [] } = REPORT.verdict;
  expect(listedOn(page)).toEqual([...notes, ...checks]);
  const links = [...page.querySelectorAll("a")].map((link) => link.getAttribute("href"));
  expect(links.filter((href) => href?.includes("tab=judges"))).toHaveLength(2);
});

test("while a run is paused, what is still to come is not called missing", async () => {
  const page = await shown({ ...REPORT, finished: false });
  expect(listedOn(page)).toEqual(["By scores, B leads.", ...(REPORT.verdict.checks ?? [])]);
});

test.each(CASES.map((one) => [one.kind, one] as const))("%s stands among the figures", async (_, one) => {
  const ranking = { ...REPORT.ranking, ...one.ranking };
  const page = await shown({ ...REPORT, verdict: one.verdict, ranking } as unknown as Report);
  expect(listedOn(page).filter((said) => said.startsWith(one.sentence))).toHaveLength(1);
});
