/** What new presets begin with is chosen among all models that can be called, those of stored keys included. */
import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { renderPage } from "../../testing/renderPage";
import { SettingsForm } from "./SettingsForm";

const LOCAL = { model: "local:lead", provider: "local", roles: ["generate"], available: true, prices: null };
const OPENAI = { ...LOCAL, model: "openai:gpt-5", provider: "openai", roles: ["generate", "judge"] };

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test("models that a key opens are proposed as first candidates and judges, and saved", async () => {
  const saved: unknown[] = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    if (request.method === "PUT") saved.push(await request.clone().json());
    const isOfKeys = request.url.includes("of_keys=true");
    if (request.url.includes("/models")) return Response.json({ items: isOfKeys ? [LOCAL, OPENAI] : [LOCAL] });
    return Response.json({ theme: "system" }, { headers: { etag: '"1"' } });
  });
  await renderPage(<SettingsForm />);
  const found = await screen.findAllByRole("checkbox", { name: /^openai:gpt-5/ });
  expect(found).toHaveLength(2);
  found.forEach((box) => fireEvent.click(box));
  fireEvent.click(screen.getByRole("button", { name: "Save settings" }));
  await vi.waitFor(() =>
    expect(saved).toEqual([
      { theme: "system", default_candidates: ["openai:gpt-5"], default_judges: ["openai:gpt-5"] },
    ]),
  );
});
