/** A new candidate: nobody gets a built-in one by accident, and who has keys is not told to have none. */
import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import type { Model, PresetIn } from "../../api/types";
import { renderPage } from "../../testing/renderPage";
import { type Change, changed, useDraft } from "../../lib/useDraft";
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
    Promise.resolve(
      Response.json({
        items: request.url.includes("/provider-keys") ? items : [],
        next_cursor: null,
        judges: [],
        sentence: "",
      }),
    );
  vi.stubGlobal("fetch", vi.fn(answers));
  const draft = emptyDraft(undefined);
  const onChange = vi.fn<(change: Change<PresetIn>) => void>();
  await renderPage(
    <PresetForm
      draft={draft}
      onChange={onChange}
      faults={new Map()}
      models={models}
      documents={[]}
      connections={[]}
      error={undefined}
    />,
  );
  return () => onChange.mock.lastCall && changed(draft, onChange.mock.lastCall[0]);
}

test("without a key, a new candidate is a built-in one, and the note says why", async () => {
  const latest = await formWith([LOCAL], []);
  await waitFor(() => expect(screen.getByText(/No key of a model yet\?/)).toBeTruthy());
  fireEvent.click(screen.getByRole("button", { name: "Candidate" }));
  expect(latest()?.generation.candidates).toEqual([{ label: "lead", model: "local:lead" }]);
});

test("with a key, the user names the model of a new candidate", async () => {
  const latest = await formWith([LOCAL, OPENAI], ["openai"]);
  fireEvent.click(screen.getByRole("button", { name: "Candidate" }));
  expect(latest()?.generation.candidates).toEqual([{ label: "candidate" }]);
});

test("a stored key is known also while its provider lists no models", async () => {
  const latest = await formWith([LOCAL], ["ollama"]);
  // A new candidate without a model says that the keys have arrived.
  await waitFor(() => {
    fireEvent.click(screen.getByRole("button", { name: "Candidate" }));
    expect(latest()?.generation.candidates).toEqual([{ label: "candidate" }]);
  });
  expect(screen.getByText(/built-in candidates and judges need no key/)).toBeTruthy();
  expect(screen.queryByText(/No key of a model yet\?/)).toBeNull();
});

/** A form that keeps what is changed in it. */
function Kept() {
  const candidates = ["one", "two"].map((label) => ({ label, model: "local:lead" }));
  const draft = useDraft<PresetIn>({ value: { ...emptyDraft(undefined), generation: { candidates } }, etag: "1" });
  const rest = { models: [LOCAL], documents: [], connections: [], error: undefined };
  return <PresetForm draft={draft.value} onChange={draft.set} faults={new Map()} {...rest} />;
}

test("what is changed of one candidate after the other all stays, though only the changed card is drawn anew", async () => {
  vi.stubGlobal("fetch", () =>
    Promise.resolve(Response.json({ items: [], next_cursor: null, judges: [], sentence: "" })),
  );
  await renderPage(<Kept />);
  const labels = () => screen.getAllByLabelText<HTMLInputElement>("Label").map(({ value }) => value);
  const write = (card: number, text: string) =>
    fireEvent.change(screen.getAllByLabelText("Label")[card] ?? document.body, { target: { value: text } });
  write(0, "first");
  write(1, "second");
  write(0, "the first");
  expect(labels()).toEqual(["the first", "second"]);
  fireEvent.click(screen.getByRole("button", { name: "Duplicate second" }));
  fireEvent.click(screen.getByRole("button", { name: "Remove the first" }));
  expect(labels()).toEqual(["second", "second 2"]);
});
