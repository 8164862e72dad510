import { cleanup, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import type { AgainstJudges as Against, Report, Run } from "../../../api/types";
import { renderPage } from "../../../testing/renderPage";
import { AgainstJudges } from "./AgainstJudges";

const FOUND: Against = {
  votes: 21,
  both_bad: 2,
  judged: 20,
  same: 14,
  agreement: { share: 0.7, low: 0.51, high: 0.85, documents: 10, missing: 0 },
  since: {
    ...{ round: 1, changed: ["criteria"], votes: 9, agreement: 0.78, before: 0.61, difference: null },
    sentence: "On the 14 documents that were kept for the test, the agreement with people is 78 % in round 2.",
  },
  scores: [{ criterion: "Clarity", answers: 12, people: 4.3, judges: 3.5, apart: 0.75, alpha: 0.61 }],
  disagreements: [
    {
      ...{ document: 3, document_name: "Station 3", a: "new", b: "today", repeat: 1, voter: "" },
      ...{ winner: "today", judges_winner: "new" },
      judges: [
        { judge: "reader", fate: "agreed", winner: "new", reasons: ["It holds more facts.", "It holds more facts."] },
        { judge: "other", fate: "flip", winner: null, reasons: ["The first is clearer.", "The first reads well."] },
      ],
    },
  ],
};
const HUMAN = {
  ...{ votes: 21, voters: 1, documents: 10, ties: 4, sided: 14, judged: 20, leaders: ["today"] },
  judges: [{ first: "reader", second: "human", same: 13, of: 19 }],
} as unknown as NonNullable<Report["human"]>;

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

async function shown(human = HUMAN) {
  vi.stubGlobal("fetch", () => Promise.resolve(Response.json(FOUND)));
  const candidates = [{ candidate: "today" }, { candidate: "new" }];
  const report = { candidates, ranking: { leaders: ["new"] } } as unknown as Report;
  const page = await renderPage(
    <AgainstJudges run={{ id: "r", preset_id: "p" } as Run} report={report} human={human} />,
  );
  await screen.findByText(/came to the judges’ outcome/);
  return page;
}

test("the agreement has its interval, and two leaders stand beside each other", async () => {
  const page = await shown();
  const textContent = page.textContent.replaceAll(/ +/g, " ");
  expect(textContent).toContain(
    "You came to the judges’ outcome in 14 of 20 votes; by document 70\u00a0% (95 % interval 51\u00a0% to 85\u00a0%).",
  );
  expect(textContent).toContain(FOUND.since?.sentence);
  expect(textContent).toContain("By votes alone today leads; by the judges new leads. The verdict says so, too.");
  expect([...page.querySelectorAll(".candidate-mark")].map((mark) => mark.classList[2])).toEqual([
    "series-1",
    "series-2",
  ]);
  expect(textContent).toContain("4 without a difference, 2 of these because both were bad");
  const row = screen.getByRole("row", { name: /^Clarity/ });
  expect([...row.children].map((cell) => cell.textContent)).toEqual(["Clarity", "12", "4.3", "3.5", "0.8", "0.61"]);
});

test("each disagreement has the judges' reasons and leads to the question", async () => {
  const { textContent } = await shown();
  expect(textContent).toContain("You: today is better. The judges: new is better.");
  expect(textContent.match(/It holds more facts\./g)).toHaveLength(1);
  expect(textContent).toContain("other: no opinion: it changed its mind when the order was swapped");
  expect(textContent).toContain("First today, then new: The first reads well.");
  const link = screen.getByText<HTMLAnchorElement>("Adjust the question");
  expect(link.href).toMatch(/\/presets\/p\?part=comparison\.instructions$/);
});

test("too few votes name no leader", async () => {
  const { textContent } = await shown({ ...HUMAN, leaders: [] });
  expect(textContent.replaceAll(/ +/g, " ")).toContain(
    "Too few votes to say who leads by them. By the judges new leads.",
  );
});
