/** Two answers to one document, side by side. */
import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import type { Report } from "../../../api/types";
import { renderPage } from "../../../testing/renderPage";
import { DocumentsPanel } from "./DocumentsPanel";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const answer = (candidate: string, text: string | null) => ({
  ...{ candidate, text, repeat: 1, state: "succeeded", delivered: true, words: 2, cost: "0", marks: [] },
});
const RANKED = { run: { id: "r" }, ranking: { rows: [{ candidate: "a" }, { candidate: "b" }] } };
const nothing = () => undefined;

/** A service with one document under every number; the paths that were asked for. */
function served(document: object): string[] {
  const asked: string[] = [];
  vi.stubGlobal("fetch", (request: Request) => {
    const { pathname, searchParams } = new URL(request.url);
    const path = pathname.replace("/api/runs/r/", "");
    asked.push(path);
    if (path === "answers/beginnings") {
      const numbers = (searchParams.get("documents") ?? "").split(",").map(Number);
      const rows = numbers.map((number) => ({ document: number, name: `Station ${number}`, answers: [] }));
      return Promise.resolve(Response.json({ rows, found: null }));
    }
    if (path === "answers") return Promise.resolve(Response.json({ flips: [] }));
    if (path === "notes") return Promise.resolve(Response.json({ items: [], next_cursor: null }));
    const number = path.replace("answers/", "");
    return Promise.resolve(Response.json({ document: `d${number}`, name: "d", text: "", flips: 0, ...document }));
  });
  return asked;
}

test.each([
  ["The same.", 1],
  ["Another.", 0],
])("answers that are the same are called identical: %s", async (text, count) => {
  served({ answers: [answer("a", "The same."), answer("b", text)], verdicts: [] });
  const report = { ...RANKED, documents_total: 1 } as unknown as Report;
  await renderPage(
    <DocumentsPanel report={report} document="d1" left="a" right="b" onOpen={nothing} onPair={nothing} />,
  );
  await screen.findByLabelText("On the left");
  expect(screen.queryAllByText("These two answers are identical.")).toHaveLength(count);
});

test("of thousands of documents one is fetched, those around it are proposed, and any is reached by its number", async () => {
  const asked = served({ answers: [answer("a", null)], text: null, verdicts: [] });
  const report = { ...RANKED, documents_total: 3000 } as unknown as Report;
  const opened: string[] = [];
  await renderPage(
    <DocumentsPanel
      report={report}
      document="d1500"
      left="a"
      right="a"
      onOpen={(document) => opened.push(document)}
      onPair={nothing}
    />,
  );
  expect(await screen.findAllByText("It is too long to be shown here; the export has it.")).not.toHaveLength(0);
  const shown: HTMLSelectElement = screen.getByLabelText("Document");
  expect(shown).toHaveProperty("value", "1500");
  expect(shown.querySelectorAll("option:not([disabled])")).toHaveLength(201);
  await waitFor(() => expect(shown.selectedOptions[0]?.textContent).toBe("Station 1500"));
  expect(asked.filter((path) => path.startsWith("answers")).sort()).toEqual([
    "answers/1500",
    "answers/beginnings",
    "answers/beginnings",
    "answers/beginnings",
  ]);
  const number = screen.getByLabelText("Number of the document");
  fireEvent.change(number, { target: { value: "99999" } });
  fireEvent.keyDown(number, { key: "Enter" });
  fireEvent.click(screen.getByRole("button", { name: "The next document" }));
  expect(opened).toEqual(["d3000", "d1501"]);
});
