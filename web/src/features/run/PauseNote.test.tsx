/** What a pause says agrees with what the run does. */
import { cleanup } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import type { Run } from "../../api/types";
import { renderPage } from "../../testing/renderPage";
import { PauseNote } from "./PauseNote";

afterEach(cleanup);

test.each([
  [0, false],
  [2, true],
])("with %i calls in flight it says so: %s", async (running, isSaid) => {
  const run = { state: "paused", pause_reason: "user", quiesced: false, progress: { running }, configuration: {} };
  const page = await renderPage(<PauseNote run={run as unknown as Run} />);
  expect(page.textContent.includes("being finished")).toBe(isSaid);
});
