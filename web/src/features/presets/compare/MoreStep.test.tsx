/** What is folded away is told in a few words, and these are about what was chosen there. */
import { cleanup, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import type { PresetIn } from "../../../api/types";
import { renderPage } from "../../../testing/renderPage";
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
