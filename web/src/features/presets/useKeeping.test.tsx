/** What becomes of something unfinished: kept a moment after the last change, and removed once it is finished. */
import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { useState } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { DraftIn } from "../../api/types";
import { renderPage } from "../../testing/renderPage";
import { KeptGuard, KeptSign } from "./KeptSign";
import { type Opened, useKeeping } from "./useKeeping";

interface Stored {
  name: string;
  version: number;
}

let stored: Stored | undefined;
let asked: string[];
let refusal: { status: number; code: string } | undefined;

/** The service, as far as one draft goes: versions, conditions and refusals. */
async function service(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (!pathname.startsWith("/api/preset-drafts/")) return Response.json({ items: [] });
  const body = request.method === "PUT" ? ((await request.json()) as DraftIn) : undefined;
  asked.push([request.method, body?.name].filter(Boolean).join(" "));
  if (refusal) return Response.json({ code: refusal.code, detail: "Refused." }, { status: refusal.status });
  const wanted = request.headers.get("If-Match");
  if (wanted && wanted !== `"${stored?.version ?? 0}"`)
    return Response.json({ code: "version-mismatch", detail: "Another version." }, { status: 412 });
  if (!body) {
    stored = undefined;
    return new Response(null, { status: 204 });
  }
  stored = { name: body.name, version: (stored?.version ?? 0) + 1 };
  return Response.json({ id: "d1", ...body }, { headers: { ETag: `"${stored.version}"` } });
}

beforeEach(() => {
  stored = undefined;
  asked = [];
  refusal = undefined;
  vi.stubGlobal("fetch", service);
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const NEW: Opened = { id: "d1", kept: undefined };

function Editor({ opened }: { opened: Opened }) {
  const [name, setName] = useState(opened.kept?.value.name ?? "");
  const keeping = useKeeping(opened, name ? { name, form: "preset", body: { text: name } } : undefined);
  return (
    <>
      <input aria-label="Name" value={name} onChange={(event) => setName(event.target.value)} />
      <KeptSign keeping={keeping} />
      <KeptGuard keeping={keeping} />
      <button onClick={keeping.drop}>Finish</button>
    </>
  );
}

function Page({ opened = NEW }: { opened?: Opened }) {
  const [isOpen, setOpen] = useState(true);
  return (
    <>
      {isOpen && <Editor opened={opened} />}
      <button onClick={() => setOpen(false)}>Leave</button>
    </>
  );
}

function write(name: string): void {
  fireEvent.change(screen.getByLabelText("Name"), { target: { value: name } });
}

function press(name: string): void {
  fireEvent.click(screen.getByRole("button", { name }));
}

function comes(words: string): Promise<HTMLElement> {
  return screen.findByText(words, undefined, { timeout: 5000 });
}

test("nothing is sent until something is entered, and then once it has come to rest", async () => {
  await renderPage(<Page />);
  expect(screen.queryByText(/saved/)).toBeNull();
  write("A");
  write("Ab");
  expect(screen.getByText("not saved")).toBeTruthy();
  await comes("draft saved");
  expect(asked).toEqual(["PUT Ab"]);
  write("Abc");
  await comes("draft saved");
  expect(stored).toEqual({ name: "Abc", version: 2 });
});

test("what is emptied again leaves no draft behind", async () => {
  await renderPage(<Page />);
  write("A");
  await comes("draft saved");
  write("");
  await waitFor(() => expect(asked).toEqual(["PUT A", "DELETE"]));
  expect(stored).toBeUndefined();
});

test("who leaves within the moment loses nothing", async () => {
  await renderPage(<Page />);
  write("In a hurry");
  press("Leave");
  await waitFor(() => expect(stored?.name).toBe("In a hurry"));
});

test("what is finished is removed, and neither what comes late nor leaving the page brings it back", async () => {
  await renderPage(<Page />);
  write("A");
  await comes("draft saved");
  write("Ab");
  press("Finish");
  write("Abc");
  press("Leave");
  await waitFor(() => expect(asked).toEqual(["PUT A", "DELETE"]));
  await new Promise((resolve) => setTimeout(resolve, 1200));
  expect(asked).toEqual(["PUT A", "DELETE"]);
});

test("a draft that is only opened is not saved anew", async () => {
  stored = { name: "Before", version: 3 };
  const value = { id: "d1", name: "Before", form: "preset", preset_id: null, version: 3, updated_at: "", body: {} };
  const kept = { value: { ...value, form: "preset" as const }, etag: '"3"' };
  await renderPage(<Page opened={{ id: "d1", kept }} />);
  await comes("draft saved");
  await new Promise((resolve) => setTimeout(resolve, 1200));
  press("Leave");
  expect(asked).toEqual([]);
});

test("another tab's version is not gone over unasked", async () => {
  await renderPage(<Page />);
  write("Mine");
  await comes("draft saved");
  stored = { name: "Theirs", version: 7 };
  write("Mine again");
  await screen.findByRole("alert", undefined, { timeout: 5000 });
  expect(stored.name).toBe("Theirs");
  press("Keep this one");
  await comes("draft saved");
  expect(stored.name).toBe("Mine again");
});

test("a refusal is told on the page, and nothing that was entered goes", async () => {
  refusal = { status: 409, code: "too-many-drafts" };
  await renderPage(<Page />);
  write("The fifty-first");
  expect((await screen.findByRole("alert", undefined, { timeout: 5000 })).textContent).toContain("Refused.");
  expect(screen.getByText("not saved")).toBeTruthy();
  refusal = undefined;
  press("Try again");
  await comes("draft saved");
  expect(stored).toMatchObject({ name: "The fifty-first" });
});
