/** What a user says of prices goes to the service as typed, and what it refuses stands at its field. */
import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { renderPage } from "../../testing/renderPage";
import { KeysPanel } from "./KeysPanel";
import { PricesPanel } from "./PricesPanel";

const SET = { model: "ollama", input_per_million: "0.5", output_per_million: "0", updated_at: "2026-11-25T12:00:00Z" };
const KEY = { provider: "ollama", hint: "1234", base_url: "http://127.0.0.1:11434/v1", last_test: null };

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function serving(answer: () => Response): { sent: { url: string; body: unknown }[] } {
  const sent: { url: string; body: unknown }[] = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    if (request.method === "PUT") {
      sent.push({ url: decodeURIComponent(request.url), body: await request.json() });
      return answer();
    }
    if (request.url.includes("/model-prices")) return Response.json({ items: [SET] });
    return Response.json({ items: request.url.includes("/provider-keys") ? [KEY] : [], next_cursor: null });
  });
  return { sent };
}

test("the form begins with the model that a link names, and what was typed is stored", async () => {
  const { sent } = serving(() => Response.json(SET));
  const page = await renderPage(<PricesPanel model="ollama" onModel={() => undefined} />);
  await waitFor(() => expect(page.textContent).toContain("$0.50 in, $0.00 out"));
  const field = (label: string) => screen.getByLabelText<HTMLInputElement>(label);
  expect(field("Model, or provider for all of its models").value).toBe("ollama");
  expect(field("In, $ per million tokens").value).toBe("0.5");
  fireEvent.change(field("Out, $ per million tokens"), { target: { value: " 1.25 " } });
  fireEvent.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(sent).toHaveLength(1));
  expect(sent[0]?.url).toMatch(/\/api\/model-prices\/ollama$/);
  expect(sent[0]?.body).toEqual({ input_per_million: "0.5", output_per_million: "1.25" });
});

test("a refusal stands at its field", async () => {
  const errors = [{ path: "input_per_million", message: "must be at most 10000 US dollars for a million tokens" }];
  serving(() => Response.json({ code: "invalid-input", detail: "It breaks a rule.", errors }, { status: 400 }));
  await renderPage(<PricesPanel model="ollama" onModel={() => undefined} />);
  fireEvent.click(await screen.findByRole("button", { name: "Save" }));
  const field = screen.getByLabelText("In, $ per million tokens");
  await waitFor(() => expect(field.getAttribute("aria-invalid")).toBe("true"));
  const about = field.getAttribute("aria-describedby")?.split(" ").at(-1) ?? "";
  expect(document.getElementById(about)?.textContent).toContain("at most 10000");
});

test("a key of an own server says what its models cost, and leads to the place where it is said", async () => {
  serving(() => Response.json(SET));
  const page = await renderPage(<KeysPanel />);
  await waitFor(() => expect(page.textContent).toContain("Its models cost $0.50 in, $0.00 out."));
  expect(screen.getByRole("link", { name: "Change" }).getAttribute("href")).toBe("/models?tab=prices&find=ollama");
});
