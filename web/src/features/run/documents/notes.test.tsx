import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import type { AnswerNoteIn, Report } from "../../../api/types";
import { renderPage } from "../../../testing/renderPage";
import { DocumentsPanel } from "./DocumentsPanel";

const answer = (candidate: string, text: string) => ({
  ...{ candidate, text, words: 2, cost: "0", delivered: true, state: "succeeded", marks: [], finish_reason: "stop" },
});
const REPORT = {
  ...{ run: { id: "r" }, documents_total: 7, ranking: { rows: [{ candidate: "a" }, { candidate: "b" }] } },
} as unknown as Report;
const DOCUMENT = {
  ...{ document: "d7", name: "Station", text: "x", flips: 0, verdicts: [] },
  answers: [{ ...answer("a", "A."), reused: true }, answer("b", "B.")],
};

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test("the keys S and N star and note the answer that has the focus, otherwise the first", async () => {
  const kept = new Map<string, AnswerNoteIn>();
  const before = { document: 7, candidate: "a", repeat: 1, starred: false, note: "Dry." };
  kept.set("a", before);
  let come: () => void = () => undefined;
  const late = new Promise<void>((resolve) => {
    come = resolve;
  });
  vi.stubGlobal("fetch", async (request: Request) => {
    if (request.method === "PUT") {
      const written = (await request.json()) as AnswerNoteIn;
      kept.set(written.candidate, written);
      return Response.json(written);
    }
    const path = new URL(request.url).pathname;
    if (path.endsWith("/answers/7")) return Response.json(DOCUMENT);
    if (path.endsWith("/answers")) return Response.json({ flips: [] });
    if (path.endsWith("/beginnings")) return Response.json({ rows: [], found: null });
    await late;
    return Response.json({ items: [...kept.values()], next_cursor: null });
  });
  const page = await renderPage(
    <DocumentsPanel
      report={REPORT}
      document="d7"
      left="a"
      right="b"
      onOpen={() => undefined}
      onPair={() => undefined}
    />,
  );
  await screen.findByText("A.");
  // An answer of a trial cost something, and the built-in ones nothing.
  expect(page.textContent).toContain("2 words · from an earlier run, not paid again");
  expect(page.textContent).toContain("2 words · free");
  // The notes are not here yet, and a star takes none of them away.
  fireEvent.keyDown(document.body, { key: "s" });
  come();
  await screen.findByRole("button", { name: "Starred" });
  await waitFor(() => expect(kept.get("a")).toMatchObject({ document: 7, repeat: 1, starred: true, note: "Dry." }));
  screen.getByRole("combobox", { name: "On the right" }).focus();
  fireEvent.keyDown(page.querySelector('[data-side="right"]') ?? page, { key: "n" });
  const text = await screen.findByRole("textbox", { name: "b on Station" });
  // Letters are letters while somebody writes.
  fireEvent.keyDown(text, { key: "s" });
  fireEvent.change(text, { target: { value: " Too long. " } });
  fireEvent.click(screen.getByRole("button", { name: "Keep" }));
  await waitFor(() => expect(kept.get("b")).toMatchObject({ document: 7, starred: false, note: "Too long." }));
  expect(await screen.findByText("Too long.")).toBeTruthy();
  expect(kept.get("a")).toMatchObject({ starred: true });
});
