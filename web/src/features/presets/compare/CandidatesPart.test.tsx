/** Candidates one by one: what is changed of them stays, whichever cards are drawn anew. */
import { cleanup, fireEvent, screen, within } from "@testing-library/react";
import { useState } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Candidate, Model, PresetIn } from "../../../api/types";
import { renderPage } from "../../../testing/renderPage";
import { CandidatesPart } from "./CandidatesPart";

const LOCAL = { model: "local:lead", provider: "local", roles: ["generate"], available: true } as Model;
const COLUMNS = ["question", "lang", "now"].map((name) => ({ name, role: name === "now" ? "output" : "metadata" }));

beforeEach(() =>
  vi.stubGlobal("fetch", ({ url }: Request) => {
    const items = url.includes("/api/data-sets") ? [{ id: "s1", name: "Questions", columns: COLUMNS }] : [];
    return Promise.resolve(Response.json({ items, next_cursor: null }));
  }),
);
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

/** The part as the editor keeps it, unfolded; each of its changes. */
async function showPart(begun: Candidate[], rows: PresetIn["rows"] = null) {
  const changes: Candidate[][] = [];
  function Kept() {
    const [candidates, setCandidates] = useState(begun);
    changes.push(candidates);
    return (
      <CandidatesPart
        preset={{ name: "", inputs: [], rows, generation: { candidates } }}
        isOneByOne
        at={() => []}
        faults={new Map()}
        error={undefined}
        models={[LOCAL]}
        documents={[]}
        onChange={setCandidates}
      />
    );
  }
  await renderPage(<Kept />);
  fireEvent.click(screen.getByRole("button", { name: /Candidates one by one/ }));
  return changes;
}

test("what is changed of one candidate after the other all stays, though only the changed card is drawn anew", async () => {
  await showPart(["one", "two"].map((label) => ({ label, model: "local:lead" })));
  const labels = () => screen.getAllByLabelText<HTMLInputElement>("Label").map(({ value }) => value);
  const write = (card: number, text: string) =>
    fireEvent.change(screen.getAllByLabelText("Label")[card] ?? document.body, { target: { value: text } });
  write(0, "first");
  write(1, "second");
  write(0, "the first");
  expect(labels()).toEqual(["the first", "second"]);
  fireEvent.click(screen.getByRole("button", { name: "Duplicate second" }));
  fireEvent.click(screen.getByRole("button", { name: "Remove the first" }));
  expect(labels()).toEqual(["second", "second 2"]);
});

test("a candidate may have its finished answers in a column, and a new one of a model is named by its user", async () => {
  const changes = await showPart([{ label: "lead", model: "local:lead", existing: {} }], { data_set: "s1" });
  await screen.findByRole("option", { name: "now" }, { timeout: 5000 });
  fireEvent.click(screen.getByRole("button", { name: "Finished answers" }));
  expect(changes.at(-1)?.[1]).toEqual({ label: "now", column: "now" });
  const card = screen.getByRole("article", { name: "Candidate lead" });
  expect(within(card).queryByText("Existing texts")).toBeNull();
  fireEvent.change(within(card).getByLabelText("Finished answers in the column"), { target: { value: "lang" } });
  expect(changes.at(-1)?.[0]?.column).toBe("lang");
  fireEvent.click(screen.getByRole("button", { name: "Candidate" }));
  expect(changes.at(-1)?.at(-1)).toEqual({ label: "candidate" });
});
