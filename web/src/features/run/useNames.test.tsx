import { cleanup, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { renderPage } from "../../testing/renderPage";
import { useNamesOf } from "./useNames";

afterEach(cleanup);

/** What the service was asked for, and answers with: the name of each document. */
function answering(): number[][] {
  const asked: number[][] = [];
  vi.spyOn(globalThis, "fetch").mockImplementation((request) => {
    const documents = new URL((request as Request).url).searchParams.get("documents")?.split(",").map(Number) ?? [];
    asked.push(documents);
    const rows = documents.map((document) => ({ document, name: `Ticket ${document}`, answers: [], checks: [] }));
    return Promise.resolve(Response.json({ rows, found: null }));
  });
  return asked;
}

function Lines({ of }: { of: readonly number[] }) {
  const names = useNamesOf("r1", of);
  return <p>{names.get(of.at(-1) ?? 0) ?? "…"}</p>;
}

test("lines that are about documents far apart ask for the names of these alone, each once", async () => {
  const asked = answering();
  const wanted = Array.from({ length: 120 }, (_, at) => 80 * at + 3);
  await renderPage(<Lines of={[...wanted, ...wanted]} />);
  await waitFor(() => expect(screen.getByText("Ticket 9523")).toBeTruthy());
  expect(asked).toEqual([wanted.slice(0, 100), wanted.slice(100)]);
});
