import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { DataSetSummary, PresetIn, Rows } from "../../api/types";
import { renderPage } from "../../testing/renderPage";
import { DocumentsStep } from "./compare/DocumentsStep";
import { withRows } from "./draft";
import { RowsField } from "./RowsField";

const DATA_SET = {
  id: "s1",
  name: "Questions",
  columns: [
    { name: "question", role: "variable" },
    { name: "lang", role: "metadata" },
    { name: "now", role: "output" },
  ],
  row_count: 120,
  version: 4,
} as DataSetSummary;
const DRAFT: PresetIn = {
  name: "Answers",
  inputs: ["d1"],
  references: { d1: "r1" },
  groups: { by: "tag" },
  instructions: "i1",
  generation: { candidates: [{ label: "lead", model: "local:lead", existing: { d1: "o1" } }] },
  comparison: { judges: [{ model: "local:reader" }] },
};

beforeEach(() =>
  vi.stubGlobal("fetch", (input: Request) =>
    Promise.resolve(
      Response.json({
        items: input.url.includes("/api/data-sets") ? [DATA_SET] : [],
        next_cursor: null,
        judges: [],
        sentence: "",
      }),
    ),
  ),
);
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test("a data set takes the place of documents, and what goes with documents is left out", () => {
  expect(withRows(DRAFT, { data_set: "s1" })).toEqual({
    ...DRAFT,
    inputs: [],
    references: {},
    groups: null,
    rows: { data_set: "s1" },
    generation: { candidates: [{ label: "lead", model: "local:lead" }] },
  });
});

test("rows are narrowed by the value of a column, which may be empty", async () => {
  const onChange = vi.fn<(rows: Rows | null) => void>();
  const rows = { data_set: "s1", where: { lang: "de" } };
  await renderPage(<RowsField rows={rows} dataSets={[DATA_SET]} none="None" onChange={onChange} at={() => []} />);
  expect(screen.getByText(/120 rows of its newest version, 4/)).toBeTruthy();
  fireEvent.change(screen.getByLabelText("is exactly"), { target: { value: "fr" } });
  fireEvent.change(screen.getByLabelText("Filter 1: column"), { target: { value: "question" } });
  fireEvent.click(screen.getByRole("button", { name: "Only rows with" }));
  fireEvent.click(screen.getByRole("button", { name: "Remove filter 1" }));
  expect(onChange.mock.calls.map(([changed]) => changed?.where)).toEqual([
    { lang: "fr" },
    { question: "de" },
    { lang: "de", question: "" },
    {},
  ]);
});

test("a new comparison works on rows instead of documents", async () => {
  const onRows = vi.fn<(rows: Rows | undefined, answers: readonly string[]) => void>();
  const step = (rows: Rows | undefined) => (
    <DocumentsStep
      documents={[]}
      chosen={[]}
      onChange={vi.fn()}
      onSample={vi.fn()}
      isTakingSample={false}
      rows={rows}
      onTable={vi.fn()}
      onDecide={vi.fn()}
      judges={undefined}
      onRows={onRows}
      at={(path) => (path === "rows" ? ["has no rows with these values"] : [])}
    />
  );
  await renderPage(step(undefined));
  await screen.findByRole("option", { name: "Questions" });
  fireEvent.change(screen.getByLabelText("Data set"), { target: { value: "s1" } });
  expect(onRows).toHaveBeenLastCalledWith({ data_set: "s1" }, ["now"]);
  cleanup();
  await renderPage(step({ data_set: "s1" }));
  await screen.findByRole("option", { name: "Questions" });
  expect(screen.queryByRole("button", { name: "Take the sample" })).toBeNull();
  expect(screen.getByText("has no rows with these values")).toBeTruthy();
  fireEvent.change(screen.getByLabelText("Data set"), { target: { value: "" } });
  expect(onRows).toHaveBeenLastCalledWith(undefined, []);
});

test("another data set keeps no column of the one before", () => {
  const before = withRows(DRAFT, { data_set: "s1" });
  const candidates = [{ label: "now", column: "now" }];
  const draft = { ...before, generation: { candidates } };
  expect(withRows(draft, { data_set: "s1", where: { lang: "de" } }).generation.candidates).toEqual(candidates);
  expect(withRows(draft, { data_set: "s2" }).generation.candidates).toEqual([{ label: "now" }]);
  expect(withRows(draft, null)).toMatchObject({ rows: null, generation: { candidates: [{ label: "now" }] } });
});
