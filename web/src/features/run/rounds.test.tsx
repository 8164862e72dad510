/** Every tab of an earlier round asks for what belongs to that round. */
import { cleanup, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Report, Run } from "../../api/types";
import { renderPage } from "../../testing/renderPage";
import { AnswersPanel } from "./answers/AnswersPanel";
import { AgainstJudges } from "./judges/AgainstJudges";
import { SplitPanel } from "./verdict/SplitPanel";
import { WhatIfPanel } from "./what-if/WhatIfPanel";

const RUN = { id: "r", name: "Answers", state: "completed" } as Run;
const HUMAN = { voters: 1, judges: [], leaders: [], votes: 0 } as unknown as NonNullable<Report["human"]>;
const REPORT = {
  ...{
    run: { id: "r" },
    state: "completed",
    round: 1,
    rounds: 2,
    documents_total: 1,
    candidates: [{ candidate: "a" }],
  },
  ...{ ranking: { basis: "comparisons", rows: [{ candidate: "a", win_share: 0.5 }], leaders: [] } },
  ...{ judges: [{ judge: "local:reader", comparison_weight: 1 }] },
} as unknown as Report;
const nothing = () => undefined;

let asked: string[];
beforeEach(() => {
  asked = [];
  vi.stubGlobal("fetch", (request: Request) => {
    const { pathname, search } = new URL(request.url);
    asked.push(`${pathname.replace("/api/runs/r/", "")}${search}`);
    const isColumns = pathname.endsWith("/split") && !search;
    return Promise.resolve(isColumns ? Response.json({ columns: ["lang"] }) : Response.json({}, { status: 404 }));
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test.each<[string, ReactNode]>([
  ["answers?round=1", <AnswersPanel key="answers" report={REPORT} onOpen={nothing} />],
  ["ranking?round=1", <WhatIfPanel key="what-if" run={RUN} report={REPORT} weights={undefined} onWeigh={nothing} />],
  ["votes/against-judges?round=1", <AgainstJudges key="judges" run={RUN} report={REPORT} human={HUMAN} />],
  ["split?round=1&column=lang", <SplitPanel key="split" run={RUN} round={1} column="lang" onColumn={nothing} />],
])("%s is asked for", async (request, panel) => {
  await renderPage(panel);
  await waitFor(() => expect(asked.map(sorted)).toContain(sorted(request)));
});

function sorted(request: string): string {
  const [path, query = ""] = request.split("?");
  return `${path}?${query.split("&").toSorted().join("&")}`;
}
