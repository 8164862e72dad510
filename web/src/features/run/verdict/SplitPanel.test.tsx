import { cleanup, fireEvent, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Run, Split } from "../../../api/types";
import { renderPage } from "../../../testing/renderPage";
import { SplitPanel } from "./SplitPanel";

const RUN = {
  id: "r",
  configuration: { generation: { candidates: [{ label: "new" }, { label: "today" }] } },
} as Run;
const rate = (share: number) => ({ share, low: share - 0.1, high: share + 0.1, documents: 24, missing: 0 });
const part = (changes: Partial<Split["parts"][number]>): Split["parts"][number] => ({
  kind: "value",
  value: null,
  values: 1,
  documents: 24,
  few: false,
  planned: 24,
  missing: 0,
  rows: [
    { candidate: "new", preferred: rate(0.7), passes: rate(0.5), rates: [rate(0.5)] },
    { candidate: "today", preferred: rate(0.3), passes: null, rates: [] },
  ],
  ...changes,
});
const SPLIT: Split = {
  column: "lang",
  columns: ["lang", "group"],
  basis: "comparisons",
  checks: [{ name: "long", kind: "length", required: false, share: false }],
  parts: [
    part({ value: "de" }),
    part({ kind: "others", values: 3, documents: 4, few: true, missing: 1 }),
    part({ kind: "none", values: 0 }),
  ],
  notes: ["Exploratory: so it is."],
};

let answers: Record<string, Partial<Split>>;
beforeEach(() => {
  answers = {};
  vi.stubGlobal("fetch", (input: Request) =>
    Promise.resolve(Response.json(answers[new URL(input.url).search] ?? { columns: [] })),
  );
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test("a run whose rows have no column shows nothing", async () => {
  const page = await renderPage(
    <SplitPanel run={RUN} round={undefined} column={undefined} onColumn={() => undefined} />,
  );
  expect(page.querySelector("section")).toBeNull();
});

test("a column is chosen from those that there are", async () => {
  answers[""] = { columns: ["lang", "group"] };
  const onColumn = vi.fn();
  const page = await renderPage(<SplitPanel run={RUN} round={undefined} column={undefined} onColumn={onColumn} />);
  const select = await waitFor(() => {
    const found = page.querySelector("select");
    if (!found) throw new Error("not there yet");
    return found;
  });
  expect([...select.options].map((option) => option.text)).toEqual(["Choose a column", "lang", "group"]);
  fireEvent.change(select, { target: { value: "group" } });
  expect(onColumn).toHaveBeenCalledWith("group");
  expect(page.querySelector("table")).toBeNull();
});

test("each part stands with its rows, shares, checks and missing verdicts, and the doubts above", async () => {
  answers[""] = { columns: ["lang", "group"] };
  answers["?column=lang"] = SPLIT;
  const page = await renderPage(<SplitPanel run={RUN} round={undefined} column="lang" onColumn={() => undefined} />);
  await waitFor(() => expect(page.querySelectorAll("tbody")).toHaveLength(3));
  const rows = [...page.querySelectorAll("tbody tr")].map((row) => row.textContent.replaceAll(/[\u00a0\u202f]/g, ""));
  expect(rows).toEqual([
    "de24 new70%60% to 80%50%40% to 60%0 of 24",
    " today30%20% to 40%–",
    "3 rarer values4few new70%60% to 80%50%40% to 60%1 of 24",
    " today30%20% to 40%–",
    "no value24 new70%60% to 80%50%40% to 60%0 of 24",
    " today30%20% to 40%–",
  ]);
  expect(page.querySelector(".doubts")?.textContent).toBe("Exploratory: so it is.");
});
