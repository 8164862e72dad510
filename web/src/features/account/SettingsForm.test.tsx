/** What new presets begin with is chosen among all models that can be called, those of stored keys included. */
import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { renderPage } from "../../testing/renderPage";
import { SettingsForm } from "./SettingsForm";

// With all four hundred of them, jsdom takes seconds to look through the page.
vi.hoisted(() => {
  Intl.supportedValuesOf = () => ["Asia/Tokyo", "Europe/Berlin"];
});

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
    return Response.json({ theme: "system", locale: "en_old" }, { headers: { etag: '"1"' } });
  });
  await renderPage(<SettingsForm />);
  const found = await screen.findAllByLabelText(/^openai:gpt-5/);
  expect(found).toHaveLength(2);
  found.forEach((box) => fireEvent.click(box));
  // Nobody has to know how a language or a place is written for a computer.
  const languages = screen.getByLabelText<HTMLSelectElement>("Numbers and dates as in");
  expect(languages.selectedOptions[0]?.text, "what another program saved").toBe("en_old");
  expect([...languages.options].find(({ value }) => value === "de-AT")?.text).toBe("Austrian German");
  fireEvent.change(languages, { target: { value: "de" } });
  const zones = screen.getByLabelText<HTMLSelectElement>("Timezone");
  expect([...zones.options].find(({ value }) => value === "Europe/Berlin")?.text).toBe("Berlin (Europe)");
  fireEvent.change(zones, { target: { value: "Europe/Berlin" } });
  fireEvent.click(screen.getByText("Save settings"));
  await vi.waitFor(() =>
    expect(saved).toEqual([
      {
        ...{ theme: "system", locale: "de", timezone: "Europe/Berlin" },
        ...{ default_candidates: ["openai:gpt-5"], default_judges: ["openai:gpt-5"] },
      },
    ]),
  );
});
