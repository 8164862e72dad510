/** Storing a key: every kind of provider is proposed, and what came of it is told once, by the test that follows. */
import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { Toasts } from "../../components/Toasts";
import { renderPage } from "../../testing/renderPage";
import { KeysPanel } from "./KeysPanel";

const KEY = { provider: "ollama", hint: "1234", base_url: null, last_test: null };

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function answering(outcome: object) {
  const answers = (request: Request) => {
    if (request.url.includes("/test/")) return Promise.resolve(Response.json(outcome));
    if (request.method === "POST") return Promise.resolve(Response.json(KEY, { status: 201 }));
    return Promise.resolve(Response.json({ items: [KEY], next_cursor: null }));
  };
  vi.stubGlobal("fetch", vi.fn(answers));
}

async function store(): Promise<HTMLElement> {
  const page = await renderPage(
    <>
      <KeysPanel />
      <Toasts />
    </>,
  );
  const write = (label: string, value: string) => fireEvent.change(screen.getByLabelText(label), { target: { value } });
  fireEvent.click(screen.getByRole("radio", { name: "Ollama" }));
  write("Address of its API", "http://127.0.0.1:11434/v1");
  fireEvent.click(screen.getByRole("button", { name: "Store" }));
  return page;
}

test("providers are tiles with names as people write them, and a server of one's own may ask for no key", async () => {
  answering({});
  await renderPage(<KeysPanel />);
  const names = screen.getAllByRole("radio").map((tile) => tile.parentElement?.textContent);
  expect(names).toEqual(
    expect.arrayContaining(["OpenAI", "Anthropic", "Google", "Mistral", "Ollama", "Another server"]),
  );
  fireEvent.click(screen.getByRole("radio", { name: "OpenAI" }));
  expect(screen.getByRole("button", { name: "Store" }).hasAttribute("disabled")).toBe(true);
  fireEvent.click(screen.getByRole("radio", { name: "Ollama" }));
  expect(screen.getByRole("button", { name: "Store" }).hasAttribute("disabled")).toBe(false);
});

test("a key that does not work is told as a failure, and nothing beside it says that all is well", async () => {
  answering({ ok: false, code: "provider-key-rejected" });
  const page = await store();
  await waitFor(() => expect(page.textContent).toContain("the provider does not take this key"));
  expect(page.querySelectorAll(".note.bad")).toHaveLength(1);
  expect(page.querySelectorAll(".toast, .note.good")).toHaveLength(0);
});

test("a key that works is told once", async () => {
  answering({ ok: true, latency_ms: 12, models: ["llama"] });
  const page = await store();
  await waitFor(() => expect(page.textContent).toContain("knows one model."));
  expect(page.querySelectorAll(".toast, .note")).toHaveLength(1);
});
