/** The way to a vote: a link from elsewhere opens a ballot, and not only the tab. */
import { cleanup, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Run } from "../../../api/types";
import { renderPage } from "../../../testing/renderPage";
import { BlindVotes } from "./BlindVotes";

const RUN = { id: "r", state: "completed", preset_id: null } as unknown as Run;

let count: { votes: number; left: number; both_bad?: number };

beforeEach(() => {
  count = { votes: 0, left: 3 };
  vi.stubGlobal("fetch", () => Promise.resolve(Response.json(count)));
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test("a ballot that is asked for opens at once", async () => {
  await renderPage(<BlindVotes run={RUN} isAsked onClose={() => undefined} />);
  await waitFor(() => expect(screen.getByRole("dialog", { name: "Which answer is better?" })).toBeTruthy());
});

test.each([
  [{ votes: 0, left: 9 }, "Look at 9 pairs of answers", ""],
  [{ votes: 8, left: 1 }, "Look at 9 pairs of answers", "8 votes so far; 1 more makes a fair check."],
  [{ votes: 9, left: 0 }, "Look at 9 pairs of answers", "9 votes so far; no pair is left."],
  [{ votes: 7, left: 40 }, "Look at 10 pairs of answers", "7 votes so far; 3 more make a fair check."],
])("nobody is asked for more pairs than there are: %o", async (now, asked, told) => {
  count = now;
  const page = await renderPage(<BlindVotes run={RUN} isAsked={false} onClose={() => undefined} />);
  await waitFor(() => expect(page.textContent).toContain(asked));
  if (told) expect((await screen.findByRole("status")).textContent).toBe(told);
  expect(screen.getByRole<HTMLButtonElement>("button", { name: /vote/i }).disabled).toBe(now.left === 0);
});
