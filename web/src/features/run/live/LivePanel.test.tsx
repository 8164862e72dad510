import { cleanup } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import type { Run } from "../../../api/types";
import { renderPage } from "../../../testing/renderPage";
import { NO_VIEW } from "../liveRun";
import { LivePanel } from "./LivePanel";

afterEach(cleanup);

const RUN = {
  state: "running",
  phase: "compare",
  progress: { total: 72, pending: 40, running: 0, succeeded: 32, failed: 0, skipped: 0, cancelled: 0, percent: 44 },
  spend: { cost: "0", unknown_calls: 0 },
  configuration: {
    inputs: Array.from({ length: 18 }, (_, at) => `d${at}`),
    generation: { candidates: [{ model: "openai:a" }, { model: "openai:b" }] },
    comparison: { judges: [{ model: "openai:j" }] },
  },
} as unknown as Run;

const live = { ...NO_VIEW, done: { ...NO_VIEW.done, generate: 12, compare: 20 } };

test("each phase says how far it is", async () => {
  const page = await renderPage(<LivePanel run={RUN} live={live} />);
  expect(page.textContent).toMatch(/12 of 36[^ ]/);
  expect(page.textContent).toMatch(/20 of 36[^ ]/);
});

test("also when looks have saved tasks, of which no phase is known to have had how many", async () => {
  const progress = { ...RUN.progress, total: 50, saved: 22 };
  const page = await renderPage(<LivePanel run={{ ...RUN, progress }} live={live} />);
  expect(page.textContent).toContain("12 of 36 planned");
  expect(page.textContent).toContain("20 of 36 planned");
});
