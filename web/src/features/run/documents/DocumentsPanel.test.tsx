/** Two answers to one document, side by side. */
import { cleanup, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import type { Report } from "../../../api/types";
import { renderPage } from "../../../testing/renderPage";
import { DocumentsPanel } from "./DocumentsPanel";

afterEach(cleanup);

const answer = (candidate: string, text: string) => ({
  ...{ candidate, text, repeat: 1, state: "succeeded", delivered: true, words: 2, cost: "0", marks: [] },
});

test.each([
  ["The same.", 1],
  ["Another.", 0],
])("answers that are the same are called identical: %s", async (text, count) => {
  const answers = [answer("a", "The same."), answer("b", text)];
  const report = {
    run: {},
    candidates: [],
    judges: [],
    ranking: { rows: [{ candidate: "a" }, { candidate: "b" }] },
    documents: [{ document: "d", name: "d", text: "", flips: 0, answers, verdicts: [], standing: [] }],
  } as unknown as Report;
  const nothing = () => undefined;
  await renderPage(
    <DocumentsPanel report={report} document="d" left="a" right="b" onOpen={nothing} onPair={nothing} />,
  );
  expect(screen.queryAllByText("These two answers are identical.")).toHaveLength(count);
});

test("of thousands of documents those around the shown one are proposed", async () => {
  const documents = Array.from({ length: 3000 }, (_, n) => ({
    ...{ document: `d${n}`, name: `Station ${n}`, text: "", flips: 0, verdicts: [], standing: [] },
    answers: [{ ...answer("a", ""), text: null }],
  }));
  const rest = { run: {}, candidates: [], judges: [], ranking: { rows: [{ candidate: "a" }] } };
  const report = { ...rest, documents } as unknown as Report;
  const nothing = () => undefined;
  await renderPage(
    <DocumentsPanel report={report} document="d1500" left="a" right="a" onOpen={nothing} onPair={nothing} />,
  );
  const shown = screen.getByLabelText("Document");
  expect(shown).toHaveProperty("value", "d1500");
  expect(shown.querySelectorAll("option:not([disabled])")).toHaveLength(501);
  expect(screen.getAllByText("It found no room in the report; the export has it.")).not.toHaveLength(0);
});
