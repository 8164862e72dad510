/** What the page of two runs shows: the figures and documents, or in a plain sentence why there are none. */
import { cleanup, waitFor } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { renderPage } from "../../../testing/renderPage";
import { TwoRuns } from "./BesidePage";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const labelled = (...labels: string[]) => ({ generation: { candidates: labels.map((label) => ({ label })) } });
const RUN = {
  ...{ created_at: "2026-11-23T08:00:00Z", state: "completed", verdict: null },
  configuration: labelled("large", "mini"),
};
const NONE = { here: [], there: [] };
const CHANGES = {
  ...{ models: [], parameters: [], candidates: NONE, judges: NONE, changed_judges: [], questions: [] },
  ...{ criteria: NONE, changed_criteria: [], documents_only_here: 0, documents_only_there: 0 },
  instructions: [{ candidates: ["mini"], here: 1, there: 1 }],
};
const STANDING = { place: 1, win_share: null, low: null, high: null, score: 0.5, cost_per_answer: null };
const AGAINST = {
  run: { id: "b", name: "Before" },
  ...{ finished: true, verdict: "", documents: 2, shared_documents: 2, notes: [], no_win_share: null, scale: "score" },
  rows: [
    {
      ...{ candidate: "mini", here: STANDING, there: STANDING, win_share: null },
      score: { difference: -0.5, low: -1, high: 0.2, documents: 2, independent: 2, outcome: "undecided" },
    },
  ],
  changes: CHANGES,
  instructions: ["Summarise at length."],
  by_document: ["Fall", "Rise"].map((name, at) => ({
    ...{ here: `d${at + 1}`, there: `d${at + 3}`, name },
    cells: [{ candidate: "mini", here: at, there: 1 - at, difference: 2 * at - 1 }],
  })),
  more_documents: 3,
};

/** A service with two runs of which the later one may be missing or not finished. */
function serving(facts: { there?: object; against?: object }) {
  vi.stubGlobal("fetch", (request: Request) => {
    const { pathname } = new URL(request.url);
    if (pathname.endsWith("/report"))
      return Promise.resolve(
        Response.json({
          run: { id: "a", name: "After" },
          configuration: { instructions: ["Summarise in brief."] },
          against: { ...AGAINST, ...facts.against },
        }),
      );
    if (pathname.endsWith("/a")) return Promise.resolve(Response.json({ ...RUN, id: "a", name: "After" }));
    if (facts.there) return Promise.resolve(Response.json({ ...RUN, id: "b", name: "Before", ...facts.there }));
    return Promise.resolve(Response.json({ error: "not-found", message: "No such run." }, { status: 404 }));
  });
}

async function shown(words: string): Promise<string> {
  const page = await renderPage(<TwoRuns here="a" there="b" />);
  await waitFor(() => expect(page.textContent).toContain(words));
  return page.innerHTML;
}

test("the changed prompt comes first, then the figures, then the documents with the worst on top", async () => {
  serving({ there: {} });
  const page = await shown("Document by document");
  const order = ["What changed", "Instructions of", "no difference can be told from chance", "Fall", "Rise"];
  const places = order.map((words) => page.indexOf(words));
  expect(places).toEqual([...places].sort((one, other) => one - other));
  expect(places[0]).toBeGreaterThan(0);
  expect(page).toContain("tab=documents&amp;document=d1");
  expect(page).toContain("tab=documents&amp;document=d4");
  expect(page).toContain("3 more documents are in both and not listed");
});

test("candidates have their marks of the run on the left, and no two of both runs have the same", async () => {
  const candidates = { here: [], there: ["nano"] };
  serving({
    there: { configuration: labelled("nano", "mini", "large") },
    against: { changes: { ...CHANGES, candidates } },
  });
  await shown("Document by document");
  const marks = [...document.querySelectorAll(".marked")].map((one) => [
    one.textContent.trim(),
    one.querySelector(".candidate-mark")?.classList[2],
  ]);
  const mini = ["mini", "series-2"];
  // The instructions, what changed, there and here, what the documents tell, and the head of the table.
  expect(marks).toEqual([mini, ["nano", "series-3"], mini, mini, mini]);
});

test("a run that is not finished is said to be so", async () => {
  serving({ there: { state: "running" } });
  expect(await shown("Document by document")).toContain("Before is not finished");
});

test("runs without a document in common have nothing to pair", async () => {
  serving({ there: {}, against: { shared_documents: 0, scale: null, by_document: [], more_documents: 0 } });
  expect(await shown("no document in common")).not.toContain("Document by document");
});

test("runs without a candidate in common have nothing to pair", async () => {
  serving({ there: {}, against: { rows: [], scale: null, by_document: [], more_documents: 0 } });
  expect(await shown("No candidate has the same label")).not.toContain("Document by document");
});

test("of a run that was deleted the page says that, and leads back to the list", async () => {
  serving({});
  expect(await shown("One of the two does not exist")).toContain('href="/runs"');
});
