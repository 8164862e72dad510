/** The way to a vote: a link from elsewhere opens a ballot, and not only the tab. */
import { cleanup, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Run } from "../../../api/types";
import { renderPage } from "../../../testing/renderPage";
import { BlindVotes } from "./BlindVotes";

const RUN = { id: "r", state: "completed", preset_id: null } as unknown as Run;

beforeEach(() => vi.stubGlobal("fetch", () => Promise.resolve(Response.json({ votes: 0, left: 3 }))));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test("a ballot that is asked for opens at once", async () => {
  await renderPage(<BlindVotes run={RUN} isAsked onClose={() => undefined} />);
  await waitFor(() => expect(screen.getByRole("dialog", { name: "Which answer is better?" })).toBeTruthy());
});
