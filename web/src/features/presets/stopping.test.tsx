import { QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Api } from "../../api/client";
import type { PresetIn } from "../../api/types";
import { ApiContext } from "../../app/context";
import { makeQueryClient } from "../../app/queryClient";
import { JudgesPart } from "./JudgesPart";

const TOKEN = `${btoa(JSON.stringify({ uuid: "ada", exp: Math.floor(Date.now() / 1000) + 3600, v: 1 })).replace(/=+$/, "")}.c2ln`;

beforeEach(() => vi.stubGlobal("fetch", () => Promise.resolve(Response.json({ items: [], next_cursor: null }))));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function box(changes: Partial<PresetIn>, change: (part: Partial<PresetIn>) => void = () => undefined): HTMLElement {
  const draft: PresetIn = {
    name: "Which one?",
    inputs: Array.from({ length: 20 }, (_, number) => `d${number}`),
    generation: { candidates: [] },
    comparison: { judges: [{ model: "local:reader" }] },
    ...changes,
  };
  render(
    <ApiContext value={new Api({ baseUrl: "http://service.test/", sessionToken: TOKEN })}>
      <QueryClientProvider client={makeQueryClient()}>
        <JudgesPart draft={draft} change={change} at={() => []} models={[]} />
      </QueryClientProvider>
    </ApiContext>,
  );
  return screen.getByRole("checkbox", { name: "Stop once it is decided" });
}

test("the box asks a run to stop early, and keeps what else was chosen", () => {
  const change = vi.fn();
  const stops = box({ comparison: { judges: [{ model: "local:reader" }], finalists: 3 } }, change);
  expect(stops).toHaveProperty("checked", false);
  fireEvent.click(stops);
  expect(change).toHaveBeenCalledWith({
    comparison: { judges: [{ model: "local:reader" }], finalists: 3, stop_when_decided: true },
  });
});

test.each([
  [{}, null],
  [{ inputs: ["a", "b"] }, /With fewer than 13 documents, everything is compared/],
  [{ combination: { candidates: [{ model: "local:lead" }] } }, /Where answers are combined, everything is compared/],
] as const)("its help says where it changes nothing", (changes, said) => {
  const help = document.getElementById(box(changes as Partial<PresetIn>).getAttribute("aria-describedby") ?? "");
  expect(help?.textContent).toContain("a small lead takes more documents to find");
  if (said) expect(help?.textContent).toMatch(said);
  else expect(help?.textContent).not.toContain("everything is compared");
});
