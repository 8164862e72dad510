/** What a pause says agrees with what the run does. */
import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import type { Run } from "../../api/types";
import { Toasts } from "../../components/Toasts";
import { renderPage } from "../../testing/renderPage";
import { RunActions } from "./actions/RunActions";
import { PauseNote } from "./PauseNote";
import { useControls } from "./useControls";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test.each([
  [0, false],
  [2, true],
])("with %i calls in flight it says so: %s", async (running, isSaid) => {
  const run = { state: "paused", pause_reason: "user", quiesced: false, progress: { running }, configuration: {} };
  const page = await renderPage(<PauseNote run={run as unknown as Run} />);
  expect(page.textContent.includes("being finished")).toBe(isSaid);
});

function Paused({ run }: { run: Run }) {
  return (
    <>
      <RunActions run={run} controls={useControls(run.id)} />
      <Toasts />
    </>
  );
}

test("Resume says why the run has paused again", async () => {
  const run = { id: "r", name: "n", state: "paused", pause_reason: "budget", progress: {} } as unknown as Run;
  vi.stubGlobal("fetch", () => Promise.resolve(Response.json(run)));
  await renderPage(<Paused run={run} />);
  fireEvent.click(screen.getByRole("button", { name: "Resume" }));
  const told = await screen.findByText(/^It has paused again\./, undefined, { timeout: 5000 });
  expect(told.textContent).toContain("budget");
});
