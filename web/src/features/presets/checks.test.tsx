import { useState } from "react";
import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { AnswerCheck, Preset, PresetIn } from "../../api/types";
import { renderPage } from "../../testing/renderPage";
import { checkFaults, withKind } from "./checks";
import { ChecksPart } from "./ChecksPart";
import { presetOf, setupOf } from "./compare/setup";
import { draftOf, faultsOf, withInputs } from "./draft";
import { HeadlineField } from "./HeadlineField";
import { JudgesPart } from "./JudgesPart";

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

beforeEach(() =>
  vi.stubGlobal("fetch", () =>
    Promise.resolve(Response.json({ items: [], next_cursor: null, judges: [], sentence: "" })),
  ),
);
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test("checks of a preset that was made elsewhere are saved unchanged", () => {
  const setup = setupOf(draftOf(ELSEWHERE));
  expect(presetOf({ ...setup, name: "Renamed" }, undefined)).toMatchObject({ name: "Renamed", checks: CHECKS });
  expect(withInputs(draftOf(ELSEWHERE), ["d1"]).checks).toEqual(CHECKS);
});

test("who decides is asked where there is a choice, and labels only where they are expected", async () => {
  const choices = async (part: Partial<PresetIn>) => {
    cleanup();
    const onChange = vi.fn();
    await renderPage(<HeadlineField draft={{ ...draftOf(ELSEWHERE), ...part }} onChange={onChange} at={() => []} />);
    const field = screen.queryByRole<HTMLSelectElement>("combobox", { name: "The decision is by" });
    return { field, values: [...(field?.options ?? [])].map(({ value }) => value), onChange };
  };
  const comparison = { judges: [] };
  const equals = [{ kind: "equals" }] as AnswerCheck[];
  expect((await choices({ checks: [], comparison })).field).toBeNull();
  expect((await choices({ checks: [{ kind: "json" }] })).field).toBeNull();
  expect((await choices({ checks: [{ kind: "json" }], comparison })).values).toEqual(["", "checks"]);
  expect((await choices({ checks: [{ kind: "equals", expected: "yes" }], comparison })).values).toEqual(["", "checks"]);
  const { field, values, onChange } = await choices({ checks: equals, comparison });
  expect(values).toEqual(["", "checks", "macro_f1"]);
  if (field) fireEvent.change(field, { target: { value: "macro_f1" } });
  expect(onChange).toHaveBeenCalledWith("macro_f1");
  // One that does not fit any more can be taken back.
  expect((await choices({ checks: [], headline: "checks" })).values).toEqual(["", "checks"]);
});

async function showChecks(checks: AnswerCheck[]) {
  const changes: AnswerCheck[][] = [];
  function Held() {
    const [held, setHeld] = useState(checks);
    const keep = (next: AnswerCheck[]) => {
      changes.push(next);
      setHeld(next);
    };
    return <ChecksPart checks={held} onChange={keep} at={(path) => (path === "checks[0].name" ? ["is taken"] : [])} />;
  }
  await renderPage(<Held />);
  return changes;
}

test("a check is added, gets its value by its kind, and decides as a gate", async () => {
  const changes = await showChecks([]);
  fireEvent.click(screen.getByRole("button", { name: "Check" }));
  fireEvent.change(screen.getByLabelText("Texts"), { target: { value: "sorry\n\nas an AI\n" } });
  fireEvent.change(screen.getByLabelText("An answer passes if it"), { target: { value: "forbidden" } });
  fireEvent.change(screen.getByLabelText("An answer that fails"), { target: { value: "gate" } });
  expect(changes.at(-1)).toEqual([{ kind: "forbidden", required: true, texts: ["sorry", "as an AI"] }]);
  expect(screen.getByLabelText<HTMLTextAreaElement>("Texts").value).toBe("sorry\n\nas an AI\n");
  fireEvent.change(screen.getByLabelText("An answer passes if it"), { target: { value: "length" } });
  fireEvent.change(screen.getByLabelText("Words at most"), { target: { value: "120" } });
  expect(changes.at(-1)).toEqual([{ kind: "length", required: true, most: 120 }]);
  fireEvent.change(screen.getByLabelText("Words at most"), { target: { value: "" } });
  expect(changes.at(-1)).toEqual([{ kind: "length", required: true, most: null }]);
  expect(screen.getByText("is taken")).toBeTruthy();
});

test("what is typed for one check never stands at another after a check is removed", async () => {
  const changes = await showChecks([
    { kind: "contains", texts: ["one"] },
    { kind: "contains", texts: ["two"] },
    { kind: "json_schema", schema: { type: "object" } as unknown as AnswerCheck["schema"] },
  ]);
  fireEvent.change(screen.getAllByLabelText("Texts")[0] ?? document.body, { target: { value: "one\n\n" } });
  fireEvent.click(screen.getByRole("button", { name: "Remove check 1" }));
  expect(screen.getByLabelText<HTMLTextAreaElement>("Texts").value).toBe("two");
  expect(changes.at(-1)).toHaveLength(2);
  fireEvent.change(screen.getByLabelText("JSON schema"), { target: { value: "{" } });
  expect(screen.getByText(/must be a JSON schema/)).toBeTruthy();
  expect(screen.getByLabelText<HTMLTextAreaElement>("JSON schema").value).toBe("{");
});

test("texts of several lines come from a program and are not cut at their lines", async () => {
  await showChecks([{ kind: "contains", texts: ["one\ntwo"] }]);
  expect(screen.getByLabelText<HTMLTextAreaElement>("Texts").readOnly).toBe(true);
});

test("a share is not taken for a number of words, and the other way round", () => {
  const length: AnswerCheck = { kind: "length", least: 50, name: "short" };
  expect(withKind(length, "chrf")).toEqual({ kind: "chrf", name: "short" });
  expect(withKind({ kind: "rouge_l", least: 0.4, expected: "x" }, "chrf")).toEqual({
    kind: "chrf",
    least: 0.4,
    expected: "x",
  });
});

test("a check without what it looks for is told before it is saved", () => {
  const checks: AnswerCheck[] = [
    { kind: "contains" },
    { kind: "forbidden" },
    { kind: "regex" },
    { kind: "json_schema" },
    { kind: "length" },
    { kind: "chrf", required: true },
    { kind: "length", least: 0 },
  ];
  expect(checkFaults(checks).map(([path]) => path)).toEqual([
    "checks[1].texts",
    "checks[2].pattern",
    "checks[3].schema",
    "checks[4].least",
    "checks[5].least",
  ]);
});

test("a preset with checks alone can be saved, because it needs no judge", () => {
  const known = { models: [], documents: undefined };
  expect([...faultsOf(draftOf(ELSEWHERE), known).keys()]).toEqual([]);
  expect([...faultsOf({ ...draftOf(ELSEWHERE), checks: [] }, known).keys()]).toEqual(["scoring"]);
});

test("a preset without judges and checks can be saved if a model answers, and the page says what it does", async () => {
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
  await renderPage(<JudgesPart draft={draft} change={vi.fn()} at={() => []} models={[]} />);
  expect(screen.getByText(/a run only makes the answers: nothing is compared/)).toBeTruthy();
});
