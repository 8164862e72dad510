import { QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Api } from "../../api/client";
import { ApiContext } from "../../app/context";
import { makeQueryClient } from "../../app/queryClient";
import { Repositories } from "./GithubDialog";

const SHA = "a".repeat(40);
const TOKEN = "github_pat_canary_0123456789";
const CONNECTION = {
  id: "c1",
  name: "octo/texts",
  repository: "octo/texts",
  branch: null,
  base_url: "https://api.github.com",
  hint: "6789",
  version: 1,
  created_at: "2026-11-21T08:00:00.000Z",
  updated_at: "2026-11-21T08:00:00.000Z",
  last_test: null,
};
const FOLDERS: Record<string, unknown[]> = {
  "": [
    { path: "docs", kind: "folder", bytes: null },
    { path: "README.md", kind: "file", bytes: 8 },
    { path: "link", kind: "other", bytes: null },
  ],
  docs: [{ path: "docs/one.md", kind: "file", bytes: 3000 }],
};

interface Asked {
  method: string;
  path: string;
  query: string;
  body: unknown;
}
let asked: Asked[];
let connections: unknown[];
let answers: Record<string, () => Response>;

beforeEach(() => {
  asked = [];
  connections = [CONNECTION];
  answers = {
    "GET /api/github-connections": () => Response.json({ items: connections, next_cursor: null }),
    "POST /api/github-connections": () => {
      connections = [CONNECTION];
      return Response.json(CONNECTION, { status: 201 });
    },
    "POST /api/github-connections/c1/test": () => Response.json({ ok: true, default_branch: "main" }),
    "POST /api/github-connections/c1/import": () =>
      Response.json(
        {
          commit: SHA,
          imported: [{ path: "docs/one.md", content_id: "x", name: "one.md" }],
          refused: [{ path: "README.md", code: "not-text" }],
        },
        { status: 201 },
      ),
  };
  vi.stubGlobal("fetch", async (input: Request | string, init?: RequestInit) => {
    const request = new Request(input, init);
    const { pathname, searchParams, search } = new URL(request.url);
    const text = await request.text();
    asked.push({ method: request.method, path: pathname, query: search, body: text ? JSON.parse(text) : undefined });
    if (pathname.endsWith("/tree")) {
      const path = searchParams.get("path") ?? "";
      return answers["tree"]?.() ?? Response.json({ commit: SHA, path, entries: FOLDERS[path], truncated: false });
    }
    if (request.method === "DELETE") connections = [];
    return answers[`${request.method} ${pathname}`]?.() ?? new Response(null, { status: 204 });
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function show() {
  const token = `${btoa(JSON.stringify({ uuid: "ada", exp: Math.floor(Date.now() / 1000) + 3600, v: 1 })).replace(/=+$/, "")}.c2ln`;
  const api = new Api({ baseUrl: "http://service.test/", sessionToken: token });
  render(
    <QueryClientProvider client={makeQueryClient()}>
      <ApiContext value={api}>
        <Repositories type="input_document" />
      </ApiContext>
    </QueryClientProvider>,
  );
}

const last = (end: string) => asked.filter(({ path }) => path.endsWith(end)).at(-1);

test("files are chosen across folders and imported at the commit that was browsed", async () => {
  show();
  fireEvent.click(await screen.findByLabelText(/README\.md/));
  fireEvent.click(screen.getByRole("button", { name: "docs" }));
  fireEvent.click(await screen.findByLabelText(/one\.md/));
  expect(last("/tree")?.query).toBe(`?path=docs&commit=${SHA}`);
  expect(screen.getByText("2").parentElement?.textContent).toContain("2 chosen");
  fireEvent.change(screen.getByLabelText("Import as"), { target: { value: "fragment" } });
  fireEvent.click(screen.getByRole("button", { name: "Import" }));
  expect((await screen.findByRole("alert")).textContent).toContain("README.md is no UTF-8 text");
  expect(last("/import")?.body).toEqual({ paths: ["README.md", "docs/one.md"], type: "fragment", commit: SHA });
});

test("what is neither file nor folder cannot be chosen", async () => {
  show();
  expect((await screen.findByLabelText<HTMLInputElement>(/link/)).disabled).toBe(true);
});

test("without a connection one is made, and its token is shown nowhere afterwards", async () => {
  connections = [];
  show();
  fireEvent.change(await screen.findByLabelText("Repository"), { target: { value: "octo/texts" } });
  fireEvent.change(screen.getByLabelText("Access token"), { target: { value: TOKEN } });
  fireEvent.click(screen.getByRole("button", { name: "Connect" }));
  await screen.findByLabelText(/README\.md/);
  expect(asked.find(({ method, path }) => method === "POST" && path === "/api/github-connections")?.body).toMatchObject(
    { repository: "octo/texts", token: TOKEN, branch: null },
  );
  expect(document.documentElement.outerHTML).not.toContain(TOKEN);
  expect(asked.some(({ query }) => query.includes(TOKEN))).toBe(false);
});

test("a token that GitHub does not take is said at once, and not kept", async () => {
  connections = [];
  answers["POST /api/github-connections/c1/test"] = () => Response.json({ ok: false, code: "github-token-rejected" });
  show();
  fireEvent.change(await screen.findByLabelText("Repository"), { target: { value: "octo/texts" } });
  fireEvent.change(screen.getByLabelText("Access token"), { target: { value: TOKEN } });
  fireEvent.click(screen.getByRole("button", { name: "Connect" }));
  expect((await screen.findByRole("alert")).textContent).toContain("github-token-rejected");
  expect(last("/c1")?.method).toBe("DELETE");
});

test("a refusal of GitHub is shown in words and not asked again by itself", async () => {
  answers["tree"] = () =>
    Response.json(
      { status: 429, code: "github-rate-limited", detail: "GitHub takes no more requests for now." },
      { status: 429, headers: { "Retry-After": "3600" } },
    );
  show();
  expect((await screen.findByRole("alert")).textContent).toContain("GitHub takes no more requests for now.");
  expect(asked.filter(({ path }) => path.endsWith("/tree")).length).toBe(1);
});
