import { cleanup, waitFor } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import type { RunSummary } from "../../api/types";
import { renderPage } from "../../testing/renderPage";
import { RunList } from "./RunList";

afterEach(cleanup);

const RUN = {
  id: "r",
  name: "Which one?",
  state: "completed",
  tags: [],
  created_at: "2026-01-01T00:00:00Z",
  progress: { total: 1, pending: 0, running: 0, succeeded: 1, failed: 0, skipped: 0, cancelled: 0 },
  spend: { cost: "0.0125", unknown_calls: 0 },
  verdict: "It is decided.",
} as unknown as RunSummary;

async function listOf(run: RunSummary): Promise<HTMLElement> {
  const nothing = () => undefined;
  return renderPage(
    <RunList
      runs={[run]}
      chosen={new Set()}
      onChoose={nothing}
      view={{ isDescending: false }}
      onView={nothing}
      onEnd={nothing}
    />,
  );
}

test("the list of runs tells what each cost in dollars, not in credits", async () => {
  const page = await listOf(RUN);
  await waitFor(() => expect(page.textContent).toContain("$0.0125"));
  expect(page.textContent).not.toMatch(/credit/i);
});

test("a finished run that cost nothing was free, and one that is not finished may still cost something", async () => {
  const spend = { ...RUN.spend, cost: "0.00" };
  const page = await listOf({ ...RUN, spend });
  await waitFor(() => expect(page.querySelector("td:last-child")?.textContent).toBe("free"));
  cleanup();
  const other = await listOf({ ...RUN, spend, state: "running" });
  await waitFor(() => expect(other.querySelector("td:last-child")?.textContent).toBe("$0.00"));
});

test("a run of which no cost is known does not look free", async () => {
  const page = await listOf({ ...RUN, spend: { ...RUN.spend, cost: "0.00", unknown_calls: 435 } });
  await waitFor(() => expect(page.textContent).toContain("unknown"));
  expect(page.querySelector("[title='435 calls of unknown cost']")).toBeTruthy();
  expect(page.innerHTML).not.toContain("$0");
});
