import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Report, Run } from "../../../api/types";
import { renderPage } from "../../../testing/renderPage";
import { ReportPanel } from "./ReportPanel";

const RUN = { id: "r", name: "Answers", state: "completed" } as Run;

const reportOf = (documents_total: number, round = 2) =>
  ({ documents_total, candidates: [{}, {}], round, rounds: 2 }) as unknown as Report;

let asked: string[];
let columns: string[];
beforeEach(() => {
  asked = [];
  columns = [];
  vi.stubGlobal("fetch", (input: Request | string) => {
    const { pathname, search } = new URL(typeof input === "string" ? input : input.url, "http://localhost");
    if (pathname.endsWith("/split")) return Promise.resolve(Response.json({ columns }));
    asked.push(search);
    return Promise.resolve(new Response("<!doctype html><p>A report</p>"));
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test("the report has the results by a column when one is chosen", async () => {
  columns = ["lang", "a & b"];
  await renderPage(<ReportPanel run={RUN} report={reportOf(1000)} />);
  const select = await screen.findByLabelText("Report with the results by");
  await waitFor(() => expect(asked).toEqual(["?format=html"]));
  fireEvent.change(select, { target: { value: "a & b" } });
  await waitFor(() => expect(asked).toEqual(["?format=html", "?format=html&split=a%20%26%20b"]));
});

test("a run whose inputs have no columns offers none", async () => {
  await renderPage(<ReportPanel run={RUN} report={reportOf(1000)} />);
  await waitFor(() => expect(asked).toEqual(["?format=html"]));
  expect(screen.queryByLabelText("Report with the results by")).toBeNull();
});

test("the page of a long run leaves out its documents, which the file has", async () => {
  vi.stubGlobal("URL", Object.assign(URL, { createObjectURL: () => "blob:x", revokeObjectURL: () => undefined }));
  await renderPage(<ReportPanel run={RUN} report={reportOf(1001)} />);
  await screen.findByText(/too many to be shown/);
  await waitFor(() => expect(asked).toEqual(["?format=html&documents=false"]));
  await screen.findByTitle("Report of Answers");
  fireEvent.click(screen.getByRole("button", { name: "Report" }));
  await waitFor(() => expect(asked).toEqual(["?format=html&documents=false", "?format=html"]));
});

test("the report of an earlier round is that of this round", async () => {
  await renderPage(<ReportPanel run={RUN} report={reportOf(1, 1)} />);
  await waitFor(() => expect(asked).toEqual(["?format=html&round=1"]));
});
