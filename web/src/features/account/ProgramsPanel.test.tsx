/** A program key is shown once, with what it may do; the list never shows it again. */
import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { renderPage } from "../../testing/renderPage";
import { ProgramsPanel } from "./ProgramsPanel";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const KEY = {
  id: "01890000-0000-7000-8000-000000000000",
  name: "nightly CI",
  scopes: ["read", "run"],
  state: "active",
  created_at: "2026-01-01T00:00:00Z",
  expires_at: "2026-04-01T00:00:00Z",
  last_used_at: null,
  ended_at: null,
};
const SECRET = `carrel_pk_ada.${"0".repeat(128)}`;

function serving(list: object) {
  const sent: { method: string; body: unknown }[] = [];
  const answers = async (request: Request) => {
    if (request.method === "GET") return Response.json(list);
    sent.push({ method: request.method, body: request.method === "POST" ? await request.json() : undefined });
    if (request.method === "DELETE") return new Response(null, { status: 204 });
    return Response.json({ ...KEY, program_key: SECRET }, { status: 201 });
  };
  vi.stubGlobal("fetch", vi.fn(answers));
  return sent;
}

test("a key is made with its scopes, shown once, and gone when its user has it", async () => {
  const sent = serving({ items: [KEY], allowed: true, most: 20 });
  const page = await renderPage(<ProgramsPanel />);
  fireEvent.change(await screen.findByLabelText("Name"), { target: { value: " nightly CI " } });
  fireEvent.click(screen.getByLabelText(/^Run/));
  fireEvent.change(screen.getByLabelText("Days"), { target: { value: "7" } });
  fireEvent.click(screen.getByText("Make the key"));
  expect(await screen.findByLabelText("The key of nightly CI")).toHaveProperty("value", SECRET);
  expect(sent).toEqual([{ method: "POST", body: { name: "nightly CI", scopes: ["read", "run"], days: 7 } }]);
  fireEvent.click(screen.getByText("I have it"));
  await waitFor(() => expect(screen.queryByLabelText("The key of nightly CI")).toBeNull());
  expect(page.innerHTML).not.toContain(SECRET);
});

test("a key without a scope cannot be made, and one that has ended says why", async () => {
  const ended = { ...KEY, id: "x", state: "password-changed", ended_at: "2026-02-01T00:00:00Z" };
  serving({ items: [KEY, ended], allowed: true, most: 20 });
  const page = await renderPage(<ProgramsPanel />);
  fireEvent.change(await screen.findByLabelText("Name"), { target: { value: "n" } });
  fireEvent.click(screen.getByLabelText(/^Read/));
  expect(screen.getByText("Make the key")).toHaveProperty("disabled", true);
  expect(page.textContent).toContain("ended with your earlier password");
  // A key that somebody else has made is found by the day of its making.
  expect(page.textContent).toContain("made Jan 1, 2026");
  expect(screen.getAllByLabelText("Revoke nightly CI")).toHaveLength(1);
});

test("a key is revoked after a question", async () => {
  const sent = serving({ items: [KEY], allowed: false, most: 20 });
  const page = await renderPage(<ProgramsPanel />);
  fireEvent.click(await screen.findByLabelText("Revoke nightly CI"));
  fireEvent.click(await screen.findByRole("button", { name: "Revoke" }));
  await waitFor(() => expect(sent.map((one) => one.method)).toEqual(["DELETE"]));
  expect(page.textContent).toContain("allows no program keys");
});
