/** A new candidate: nobody gets a built-in one by accident, and who has keys is not told to have none. */
import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import type { Model, PresetIn } from "../../api/types";
import { renderPage } from "../../testing/renderPage";
import { emptyDraft } from "./draft";
import { PresetForm } from "./PresetForm";

const LOCAL = { model: "local:lead", provider: "local", roles: ["generate"], available: true } as Model;
const OPENAI = { model: "openai:gpt-5", provider: "openai", roles: ["generate", "judge"], available: true } as Model;

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

async function formWith(models: Model[], keys: string[]): Promise<() => PresetIn | undefined> {
  const items = keys.map((provider) => ({ provider }));
  const answers = (request: Request) =>
    Promise.resolve(Response.json({ items: request.url.includes("/provider-keys") ? items : [], next_cursor: null }));
  vi.stubGlobal("fetch", vi.fn(answers));
  const onChange = vi.fn<(draft: PresetIn) => void>();
  await renderPage(
    <PresetForm
      draft={emptyDraft(undefined)}
      onChange={onChange}
      faults={new Map()}
      models={models}
      documents={[]}
      connections={[]}
      error={undefined}
    />,
  );
  return () => onChange.mock.lastCall?.[0];
}

test("without a key, a new candidate is a built-in one, and the note says why", async () => {
  const changed = await formWith([LOCAL], []);
  await waitFor(() => expect(screen.getByText(/No key of a model yet\?/)).toBeTruthy());
  fireEvent.click(screen.getByRole("button", { name: "Candidate" }));
  expect(changed()?.generation.candidates).toEqual([{ label: "lead", model: "local:lead" }]);
});

test("with a key, the user names the model of a new candidate", async () => {
  const changed = await formWith([LOCAL, OPENAI], ["openai"]);
  fireEvent.click(screen.getByRole("button", { name: "Candidate" }));
  expect(changed()?.generation.candidates).toEqual([{ label: "candidate" }]);
});

test("a stored key is known also while its provider lists no models", async () => {
  const changed = await formWith([LOCAL], ["ollama"]);
  // A new candidate without a model says that the keys have arrived.
  await waitFor(() => {
    fireEvent.click(screen.getByRole("button", { name: "Candidate" }));
    expect(changed()?.generation.candidates).toEqual([{ label: "candidate" }]);
  });
  expect(screen.getByText(/built-in candidates and judges need none/)).toBeTruthy();
  expect(screen.queryByText(/No key of a model yet\?/)).toBeNull();
});
