/** What is known of judges is shown as the service tells it, and a check that broke off says how to go on. */
import { cleanup, waitFor } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { renderPage } from "../../testing/renderPage";
import { JudgesPanel } from "./JudgesPanel";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const rate = (share: number | null, low: number | null = null, high: number | null = null) => ({
  share,
  low,
  high,
  of: 12,
  documents: 12,
});
const passport = {
  verdicts: 12,
  invalid: 0,
  consistent: rate(0.95, 0.9, 0.99),
  flips: rate(0.05, 0, 0.1),
  first: rate(0.5),
  longer: { won: 6, of: 12, documents: 12, share: 0.5, low: 0.3, high: 0.7 },
  with_people: rate(null),
  leniency: { difference: 0.1, low: -0.05, high: 0.25, documents: 12 },
};
const check = {
  id: "c",
  model: "openai:judge",
  parameters: {},
  bench: "1",
  started_at: "2026-01-01T00:00:00Z",
  finished_at: null,
  asked: 7,
  of: 24,
  right: rate(0.8, 0.6, 1),
  traps: (["none", "length", "position", "orders"] as const).map((trap) => ({ trap, right: rate(0.5) })),
  passport,
  cost: "0.012",
};
const JUDGES = [
  {
    ...{ model: "local:reader", family: "local", runs: 2, in_runs: passport, cost_per_verdict: "0", check: null },
    health: { own_family_lift: { lift: 0.2, low: 0.1, high: 0.3, documents: 12, reason: null } },
    agreement: [{ first: "local:reader", second: "local:statistician", same: 9, of: 12, alpha: { value: 0.5 } }],
  },
  {
    ...{ model: "openai:judge", family: "openai", runs: 0, in_runs: null, cost_per_verdict: null, check },
    health: null,
    agreement: [],
  },
];

test("judges of runs and checks have their figures with intervals", async () => {
  const answers = (request: Request) =>
    Promise.resolve(Response.json({ items: request.url.endsWith("/judges") ? JUDGES : [] }));
  vi.stubGlobal("fetch", vi.fn(answers));
  const page = await renderPage(<JudgesPanel />);
  await waitFor(() => expect(page.textContent).toContain("local:reader"));
  expect(page.textContent).toContain("In your newest comparisons");
  expect(page.textContent).toContain("2 comparisons, free");
  expect(page.textContent).toContain("95\u00a0%90\u00a0% to 99\u00a0%");
  expect(page.textContent).toContain("+0.10−0.05 to +0.25");
  expect(page.textContent).toContain("local:reader and local:statisticianthe same in 75\u00a0% of 12 pairs");
  expect(page.textContent).toContain("its own familypreferred by +0.20 (+0.10 to +0.30) more");
  expect(page.textContent).toContain("7 of 24 words: check it again to go on");
  expect(page.querySelectorAll("td .warn")).toHaveLength(4);
});
