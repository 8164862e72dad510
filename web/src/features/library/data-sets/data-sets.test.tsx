import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { DataSet } from "../../../api/types";
import { renderPage } from "../../../testing/renderPage";
import { DataSetEditor } from "./DataSetPage";
import { DataSetsPage } from "./DataSetsPage";

const DATA_SET: DataSet = {
  id: "s1",
  name: "Questions",
  description: "",
  format: "csv",
  columns: [
    { name: "id", role: "id" },
    { name: "question", role: "variable" },
    { name: "final_answer", role: "metadata" },
  ],
  row_count: 2,
  bytes: 80,
  version: 2,
  created_at: "2026-11-01T00:00:00Z",
  updated_at: "2026-11-02T00:00:00Z",
};
const STORED = { value: DATA_SET, etag: '"2.json"' };
const VERSIONS = [2, 1].map((version) => ({ ...DATA_SET, version, row_count: version }));
const ROWS = [
  { number: 1, id: "a", values: { id: "a", question: "Why?", final_answer: null } },
  { number: 2, id: "b", values: { id: "b", question: "x".repeat(300), final_answer: "Because." } },
];

/** As much of a request as an upload needs; it goes where all other requests of these tests go. */
class FakeRequest {
  status = 0;
  responseText = "";
  readonly upload = {};
  onload?: () => void;
  onloadend?: () => void;
  private method = "";
  private url = "";
  private readonly headers = new Headers();
  open(method: string, url: string): void {
    this.method = method;
    this.url = url;
  }
  setRequestHeader(name: string, value: string): void {
    this.headers.set(name, value);
  }
  getAllResponseHeaders(): string {
    return "";
  }
  send(body: FormData): void {
    void fetch(new Request(this.url, { method: this.method, body, headers: this.headers })).then(async (answer) => {
      this.status = answer.status;
      this.responseText = await answer.text();
      this.onload?.();
      this.onloadend?.();
    });
  }
}

let asked: { method: string; path: string; ifMatch: string | null; body: string }[];
let answers: Record<string, () => Response>;
beforeEach(() => {
  asked = [];
  answers = {
    "GET /api/contents/counts": () => Response.json({ total: 0, by_type: {} }),
    "GET /api/data-sets": () => Response.json({ items: [DATA_SET], next_cursor: null }),
    "GET /api/data-sets/s1": () => Response.json(DATA_SET, { headers: { ETag: STORED.etag } }),
    "GET /api/data-sets/s1/versions": () => Response.json({ items: VERSIONS, next_cursor: null }),
    "GET /api/data-sets/s1/rows": () => Response.json({ items: ROWS, next_cursor: null }),
  };
  vi.stubGlobal("XMLHttpRequest", FakeRequest);
  vi.stubGlobal("fetch", async (input: Request) => {
    const { pathname, search } = new URL(input.url);
    const body = input.method === "GET" ? "" : await input.text();
    asked.push({
      method: input.method,
      path: `${pathname}${search}`,
      ifMatch: input.headers.get("If-Match"),
      body,
    });
    return answers[`${input.method} ${pathname}`]?.() ?? Response.json({ items: [], next_cursor: null });
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const refusal = (code: string, detail: string, errors: object[]) => () =>
  Response.json(
    { type: `/api/errors/${code}`, title: "", status: 400, detail, code, request_id: "r", errors },
    { status: 400, headers: { "Content-Type": "application/problem+json" } },
  );

function give(page: HTMLElement, file: File): void {
  const input = page.querySelector<HTMLInputElement>("input[type=file]");
  if (!input) throw new Error("There is no input for files.");
  Object.defineProperty(input, "files", { value: [file] });
  input.dispatchEvent(new Event("change", { bubbles: true }));
}

test("the list tells rows and columns, and a table that is refused says in which row and column", async () => {
  answers["POST /api/data-sets"] = refusal("data-set-rows-invalid", "Some rows break a rule; see errors.", [
    { path: "rows[12].final_answer", message: "must not be empty" },
  ]);
  const page = await renderPage(<DataSetsPage />);
  const list = await screen.findByRole("list", { name: "Data sets" });
  expect(list.textContent).toMatch(/^Questionsid, question, final_answer2 rows · version 2/);
  give(page, new File(["id,question\n"], "more.csv"));
  const alert = await screen.findByRole("alert");
  expect(alert.textContent).toContain("Row 12, column final_answer: must not be empty");
  const sent = asked.find(({ method }) => method === "POST");
  expect(sent?.path).toBe("/api/data-sets");
  expect(sent?.body).toContain('filename="more.csv"');
});

test("the role of each column can be chosen, and one that only one may have leaves the column before", async () => {
  answers["PUT /api/data-sets/s1"] = () =>
    Response.json({ ...DATA_SET, version: 3 }, { headers: { ETag: '"3.json"' } });
  await renderPage(<DataSetEditor stored={STORED} />);
  const role = screen.getByLabelText<HTMLSelectElement>("Role of final_answer");
  fireEvent.change(role, { target: { value: "id" } });
  expect(screen.getByLabelText<HTMLSelectElement>("Role of id").value).toBe("metadata");
  fireEvent.change(screen.getByLabelText("Role of id"), { target: { value: "id" } });
  fireEvent.change(role, { target: { value: "expected" } });
  fireEvent.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(asked.some(({ method }) => method === "PUT")).toBe(true));
  const sent = asked.find(({ method }) => method === "PUT");
  expect(sent?.ifMatch).toBe('"2.json"');
  expect((JSON.parse(sent?.body ?? "") as DataSet).columns).toEqual([
    { name: "id", role: "id" },
    { name: "question", role: "variable" },
    { name: "final_answer", role: "expected" },
  ]);
});

test.each([
  ["columns[2].role", "is the role of another column", "Role of final_answer", "This is the role of another column"],
  ["rows[12].final_answer", "must not be empty", "Column final_answer, row 12", "Row 12 must not be empty"],
  ["rows[12].columns[3]", "must not be empty", "Column final_answer, row 12", "Row 12 must not be empty"],
])("what is refused at %s is said in words, and its field has the focus", async (path, message, place, fault) => {
  answers["PUT /api/data-sets/s1"] = refusal("data-set-columns-invalid", "See errors.", [{ path, message }]);
  const page = await renderPage(<DataSetEditor stored={STORED} />);
  const role = screen.getByLabelText<HTMLSelectElement>("Role of final_answer");
  fireEvent.change(role, { target: { value: "expected" } });
  fireEvent.click(screen.getByRole("button", { name: "Save" }));
  await screen.findByText(fault);
  expect(page.querySelector("li")?.textContent).toBe(`${place}: ${message}`);
  expect(document.activeElement).toBe(role);
  expect(role.getAttribute("aria-invalid")).toBe("true");
});

test("a refused name has the focus", async () => {
  answers["PUT /api/data-sets/s1"] = refusal("invalid-input", "See errors.", [
    { path: "name", message: "is too long" },
  ]);
  await renderPage(<DataSetEditor stored={STORED} />);
  fireEvent.change(screen.getByLabelText("Name"), { target: { value: "Other" } });
  fireEvent.click(screen.getByRole("button", { name: "Save" }));
  await screen.findAllByText("is too long");
  expect(document.activeElement).toBe(screen.getByLabelText("Name"));
});

test("the first rows stand in a table, and an earlier version shows its own", async () => {
  const page = await renderPage(<DataSetEditor stored={STORED} />);
  const table = await screen.findByRole("group", { name: "2 rows" });
  await within(table).findByText("Why?");
  const cells = [...page.querySelectorAll("section[aria-labelledby=rows-title] tbody td")].map((td) => td.textContent);
  expect(cells).toEqual(["1", "a", "Why?", "–", "2", "b", `${"x".repeat(200)} …`, "Because."]);
  fireEvent.change(await screen.findByLabelText("Version"), { target: { value: "1" } });
  await waitFor(() => expect(asked.map(({ path }) => path)).toContain("/api/data-sets/s1/rows?version=1&limit=20"));
});

test("a data set without a question says so, and a table becomes its next version", async () => {
  answers["POST /api/data-sets/s1/versions"] = () => Response.json({ ...DATA_SET, version: 3 }, { status: 201 });
  const columns = DATA_SET.columns.map(({ name }) => ({ name, role: "metadata" as const }));
  const page = await renderPage(<DataSetEditor stored={{ ...STORED, value: { ...DATA_SET, columns } }} />);
  expect(screen.getByText(/No column says what a row asks/)).toBeTruthy();
  give(page, new File(["id,question\n"], "more.csv"));
  await waitFor(() => expect(asked.find(({ method }) => method === "POST")?.ifMatch).toBe('"2.json"'));
});

test("a data set that presets use cannot be deleted, and they are named", async () => {
  answers["DELETE /api/data-sets/s1"] = refusal("data-set-in-use", "Presets use this data set.", [
    { path: "presets", message: "p1" },
  ]);
  answers["GET /api/presets/p1"] = () => Response.json({ name: "Nightly" });
  await renderPage(<DataSetEditor stored={STORED} />);
  fireEvent.click(screen.getByRole("button", { name: "Delete" }));
  fireEvent.click(within(await screen.findByRole("alertdialog")).getByRole("button", { name: "Delete" }));
  await screen.findByText("Nightly");
  expect(asked.find(({ method }) => method === "DELETE")?.path).toBe("/api/data-sets/s1");
});
