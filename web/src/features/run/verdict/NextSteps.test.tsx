/** What the verdict page proposes next leads there, and not only near it. */
import { cleanup, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import type { Report, Run } from "../../../api/types";
import { renderPage } from "../../../testing/renderPage";
import { NextSteps } from "./VerdictFacts";

afterEach(cleanup);

const RUN = { id: "r", state: "completed", preset_id: null } as unknown as Run;

test("the link of the verdict page asks for a ballot", async () => {
  const report = { verdict: { outcome: "decided" }, ranking: { counts: { planned: 3 } }, human: null };
  await renderPage(<NextSteps run={RUN} report={report as unknown as Report} />);
  expect(screen.getByRole("link", { name: "Check the judges yourself" }).getAttribute("href")).toContain("vote=now");
});
