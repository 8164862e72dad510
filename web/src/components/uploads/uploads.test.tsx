import { QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import type { DirectoryDropItem, DropItem, FileDropItem } from "react-aria-components";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Api } from "../../api/client";
import type { ContentType } from "../../api/types";
import { ApiContext } from "../../app/context";
import { makeQueryClient } from "../../app/queryClient";
import { filesIn } from "./dropped";
import { isDocumentFile } from "../../lib/contentTypes";
import { UploadArea } from "./UploadArea";

const EVIL = "<img src=x onerror=alert(1)>.docx";

/** As much of a request as the app needs; what it sends goes where all other requests of these tests go. */
class FakeRequest {
  status = 0;
  responseText = "";
  readonly upload: { onprogress?: (event: { loaded: number; total: number }) => void } = {};
  onload?: () => void;
  onloadend?: () => void;
  onabort?: () => void;
  private url = "";
  private isOver = false;
  private readonly headers = new Headers();
  open(_method: string, url: string): void {
    this.url = url;
  }
  setRequestHeader(name: string, value: string): void {
    this.headers.set(name, value);
  }
  getAllResponseHeaders(): string {
    return this.received;
  }
  abort(): void {
    this.isOver = true;
    this.onabort?.();
  }
  send(body: FormData): void {
    this.upload.onprogress?.({ loaded: 1, total: 4 });
    if (isHeld) return;
    void fetch(this.url, { method: "POST", body, headers: this.headers }).then(async (answer) => {
      if (this.isOver) return;
      this.upload.onprogress?.({ loaded: 4, total: 4 });
      this.status = answer.status;
      this.received = [...answer.headers].map(([name, value]) => `${name}: ${value}`).join("\r\n");
      this.responseText = await answer.text();
      this.onload?.();
      this.onloadend?.();
    });
  }
  private received = "";
}

let isHeld = false;
let asked: { path: string; key: string | null; body: string }[];
let answers: Response[];

beforeEach(() => {
  asked = [];
  answers = [];
  isHeld = false;
  vi.stubGlobal("XMLHttpRequest", FakeRequest);
  vi.stubGlobal("fetch", async (input: Request | string, init?: RequestInit) => {
    const request = new Request(input, init);
    const { pathname } = new URL(request.url);
    if (pathname === "/api/users/me") return Response.json({ limits: { upload_bytes: 1000 } });
    asked.push({ path: pathname, key: request.headers.get("Idempotency-Key"), body: await request.text() });
    return answers.shift() ?? Response.json({}, { status: 201 });
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function refusal(status: number, code: string, detail: string, headers: Record<string, string> = {}): Response {
  return Response.json(
    { type: `/api/errors/${code}`, title: "", status, detail, code, request_id: "r" },
    { status, headers: { "Content-Type": "application/problem+json", ...headers } },
  );
}

function choose(type: ContentType, ...files: File[]): void {
  const api = new Api({ baseUrl: "http://127.0.0.1", sessionToken: "t" });
  const { container } = render(
    <ApiContext value={api}>
      <QueryClientProvider client={makeQueryClient()}>
        <UploadArea type={type} isSlim={false} />
      </QueryClientProvider>
    </ApiContext>,
  );
  const input = container.querySelector<HTMLInputElement>("input[type=file]");
  if (!input) throw new Error("There is no input for files.");
  Object.defineProperty(input, "files", { value: files });
  input.dispatchEvent(new Event("change", { bubbles: true }));
}

test("documents go to the service as they are, texts of other types as text", async () => {
  choose("input_document", new File(["%PDF-"], "a.pdf"), new File(["- name: x"], "b.yaml"));
  await screen.findByText("2 of 2 files done");
  expect(asked.map(({ path }) => path).sort()).toEqual(["/api/contents", "/api/documents"]);
  const form = asked.find(({ path }) => path === "/api/documents")?.body;
  expect(form).toContain('filename="a.pdf"');
  expect(form).toContain("%PDF-");
});

test("every file that fails says why under its name, and the others are added", async () => {
  answers = [refusal(400, "document-encrypted", "The file is protected by a password; remove the protection first.")];
  choose(
    "input_document",
    new File(["x"], EVIL),
    new File(["x"], "b.txt"),
    new File(["x".repeat(1001)], "large.txt"),
    new File(["x"], "c.exe"),
  );
  await screen.findByText("4 of 4 files done, 3 refused");
  expect(screen.getAllByRole("alert").map((alert) => alert.textContent)).toEqual([
    "The file is protected by a password; remove the protection first.",
    "The file is larger than the 1000 bytes that an upload may be. It was not sent.",
    "Files of this kind cannot be read.",
  ]);
  expect(screen.getByText(EVIL)).toBeTruthy();
  expect(document.querySelector("img")).toBeNull();
  expect(asked).toHaveLength(2);
});

test("a file that the service has no room for yet is sent again, under the same key", async () => {
  answers = [refusal(503, "uploads-busy", "Later.", { "Retry-After": "1" })];
  choose("input_document", new File(["x"], "a.txt"));
  await waitFor(() => expect(asked).toHaveLength(2), { timeout: 3000 });
  await screen.findByText("1 of 1 file done");
  expect(asked[0]?.key).toBeTruthy();
  expect(asked[1]?.key).toBe(asked[0]?.key);
});

test("what is under way tells how much of it went out, and can be stopped", async () => {
  isHeld = true;
  choose("input_document", new File(["x".repeat(400)], "a.pdf"), new File(["x"], "b.pdf"), new File(["x"], "c.pdf"));
  await screen.findByText("100 B, 25 %");
  fireEvent.click(screen.getByRole("button", { name: "Stop" }));
  await screen.findByText("3 of 3 files done");
  expect(screen.getAllByText("stopped")).toHaveLength(3);
  expect(asked).toHaveLength(0);
});

test("an empty file is refused without being sent", async () => {
  choose("input_document", new File([], "a.txt"));
  await screen.findByText("The file is empty.");
  expect(asked).toHaveLength(0);
});

test("files of dropped folders are found at any depth, but for hidden ones", async () => {
  const file = (name: string): DropItem => ({
    kind: "file",
    type: "text/plain",
    name,
    getFile: () => Promise.resolve(new File(["x"], name)),
    getText: () => Promise.resolve("x"),
  });
  const folder = (name: string, ...entries: DropItem[]): DropItem => ({
    kind: "directory",
    name,
    async *getEntries() {
      for (const entry of entries as (FileDropItem | DirectoryDropItem)[]) yield await Promise.resolve(entry);
    },
  });
  const found = await filesIn([
    file("a.txt"),
    folder("docs", file("b.txt"), file(".DS_Store"), folder("deep", file("c.txt")), folder(".git", file("config"))),
  ]);
  expect(found.map(({ name }) => name)).toEqual(["a.txt", "b.txt", "c.txt"]);
});

test("a PDF can be no prompt", async () => {
  choose("generation_instructions", new File(["%PDF-"], "a.pdf"));
  await screen.findByText(/This is no text file/);
  expect(asked).toHaveLength(0);
});

test("what the service reads is told by the ending alone", () => {
  expect(["a.PDF", "b.docx", "c.md", "d.csv", "e.htm"].every((name) => isDocumentFile({ name }))).toBe(true);
  expect(["a.doc", "b.yaml", "pdf", "c.pdf.exe"].some((name) => isDocumentFile({ name }))).toBe(false);
});
