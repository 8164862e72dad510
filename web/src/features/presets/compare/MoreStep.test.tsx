/** What is folded away is told in a few words, and these are about what was chosen there. */
import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import type { PresetIn } from "../../../api/types";
import { renderPage } from "../../../testing/renderPage";
import { JudgesPart } from "../JudgesPart";
import { MoreStep } from "./MoreStep";
import { EMPTY, presetOf } from "./setup";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test.each<[string, Partial<PresetIn>, string]>([
  ["nothing", {}, "no budget, answers stay in the run"],
  [
    "a budget, repeats and a place for answers",
    { limits: { budget: "2.50" }, generation: { candidates: [], repeats: 3 }, output: { destination: "library" } },
    "3 repeats, at most $2.50, answers go to the library",
  ],
])("with %s chosen", async (_, more, words) => {
  vi.stubGlobal("fetch", () =>
    Promise.resolve(Response.json({ items: [], next_cursor: null, judges: [], sentence: "" })),
  );
  await renderPage(
    <MoreStep
      preset={presetOf({ ...EMPTY, more }, undefined)}
      name=""
      onName={() => undefined}
      change={() => undefined}
      at={() => []}
      models={[]}
      documents={[]}
      connections={[]}
    />,
  );
  expect(screen.getByText(words)).toBeTruthy();
});

test("nothing about judges can be changed until it is known who judges, and then it begins with them", async () => {
  let answer: (response: Response) => void = () => undefined;
  const answered = new Promise<Response>((resolve) => (answer = resolve));
  vi.stubGlobal("fetch", () => answered);
  const change = vi.fn();
  const draft = { ...presetOf({ ...EMPTY, models: ["openai:alpha"] }, undefined), comparison: null };
  await renderPage(<JudgesPart draft={draft} change={change} at={() => []} models={[]} />);
  const [pairs, scores] = screen.getAllByRole("checkbox");
  if (!pairs || !scores) throw new Error("there are two ways to judge");
  const isDisabled = () => [pairs, scores].map((box) => box.closest("fieldset")?.disabled);
  expect(isDisabled()).toEqual([true, true]);
  answer(Response.json({ judges: [{ model: "openai:critic" }], sentence: "critic passed its check." }));
  await screen.findByText(/critic passed its check/);
  expect(isDisabled()).toEqual([false, false]);
  const judges = [{ model: "openai:critic" }];
  fireEvent.click(pairs);
  expect(change).toHaveBeenLastCalledWith({ comparison: { judges } });
  fireEvent.click(scores);
  expect(change).toHaveBeenLastCalledWith({ scoring: { criteria: "", judges } });
});
