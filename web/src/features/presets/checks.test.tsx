import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Preset, PresetIn } from "../../api/types";
import { renderPage } from "../../testing/renderPage";
import { draftOf, faultsOf, withInputs } from "./draft";
import { PresetForm } from "./PresetForm";

const CHECKS = [
  { kind: "json_schema", name: "an address", required: true, schema: { type: "object", required: ["city"] } },
  { kind: "length", most: 100 },
] as unknown as PresetIn["checks"];
const ELSEWHERE = {
  id: "p1",
  version: 3,
  created_at: "2026-11-01T00:00:00Z",
  updated_at: "2026-11-01T00:00:00Z",
  name: "Checked",
  inputs: ["d1", "d2"],
  generation: { candidates: [{ label: "new", existing: { d1: "a", d2: "a" } }] },
  checks: CHECKS,
} as unknown as Preset;

beforeEach(() => vi.stubGlobal("fetch", () => Promise.resolve(Response.json({ items: [], next_cursor: null }))));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test("checks of a preset that was made elsewhere are saved unchanged", async () => {
  const onChange = vi.fn<(draft: PresetIn) => void>();
  await renderPage(
    <PresetForm
      draft={draftOf(ELSEWHERE)}
      onChange={onChange}
      faults={new Map()}
      models={[]}
      documents={[]}
      connections={[]}
      error={undefined}
    />,
  );
  expect(screen.getByText(/an address, length/)).toBeTruthy();
  fireEvent.change(screen.getByLabelText("Name"), { target: { value: "Renamed" } });
  fireEvent.click(screen.getByRole("checkbox", { name: "Compare answers two by two, in both orders" }));
  const saved = onChange.mock.calls.map(([draft]) => draft);
  expect(saved.map(({ name }) => name)).toEqual(["Renamed", "Checked"]);
  expect(saved.map(({ checks }) => checks)).toEqual([CHECKS, CHECKS]);
  expect(withInputs(draftOf(ELSEWHERE), ["d1"]).checks).toEqual(CHECKS);
});

test("a preset with checks alone can be saved, because it needs no judge", () => {
  const known = { models: [], documents: undefined };
  expect([...faultsOf(draftOf(ELSEWHERE), known).keys()]).toEqual([]);
  expect([...faultsOf({ ...draftOf(ELSEWHERE), checks: [] }, known).keys()]).toEqual(["scoring"]);
});

test("a preset without judges and checks can be saved if a model answers, and the form says what it does", async () => {
  const known = { models: [], documents: undefined };
  const draft: PresetIn = {
    ...draftOf(ELSEWHERE),
    checks: [],
    instructions: "i1",
    generation: { candidates: [{ label: "lead", model: "local:lead" }] },
  };
  expect([...faultsOf(draft, known).keys()].filter((path) => !path.includes("model"))).toEqual([]);
  const sent: PresetIn = { ...draft, output: { destination: "library" } };
  expect(faultsOf(sent, known).get("output.answers")).toMatch(/no candidate is best/);
  await renderPage(
    <PresetForm
      draft={draft}
      onChange={vi.fn()}
      faults={new Map()}
      models={[]}
      documents={[]}
      connections={[]}
      error={undefined}
    />,
  );
  expect(screen.getByText(/a run only makes the answers: nothing is compared/)).toBeTruthy();
});
