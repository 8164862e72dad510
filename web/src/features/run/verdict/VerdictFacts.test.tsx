import { cleanup } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import type { Report, Run } from "../../../api/types";
import { renderPage } from "../../../testing/renderPage";
import { VerdictFacts } from "./VerdictFacts";

afterEach(cleanup);

const RUN = {
  ...{ id: "r", state: "completed", created_at: "2026-01-01T12:00:00Z", started_at: "2026-01-01T12:00:00Z" },
  ...{ finished_at: "2026-01-08T12:00:30Z", spend: { calls: 1 } },
} as unknown as Run;
const REPORT = {
  ...{ documents_total: 3, candidates: [], judges: [], spend: { calls: 1, cost: "0", unknown_calls: 0 } },
  ranking: { counts: { planned: 0, missing: 0, invalid: 0 } },
};

test("the week between two rounds is no time that the run took", async () => {
  const { textContent: of_one } = await renderPage(
    <VerdictFacts run={RUN} report={{ ...REPORT, rounds: 1 } as unknown as Report} />,
  );
  expect(of_one).toContain("took");
  cleanup();
  const { textContent } = await renderPage(
    <VerdictFacts run={RUN} report={{ ...REPORT, rounds: 2 } as unknown as Report} />,
  );
  expect(textContent).toContain("Started");
  expect(textContent).not.toContain("took");
});
