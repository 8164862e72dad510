/** The first steps tick off what is done, keys included. */
import { cleanup, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { renderPage } from "../../testing/renderPage";
import { FirstSteps } from "./FirstSteps";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test.each([
  ["nothing is done at first", [], {}, []],
  ["a stored key ticks the second step", [{ provider: "openai" }], {}, ["Store the keys"]],
  [
    "texts and presets tick the others",
    [],
    { contents: 3, presets: 1 },
    ["Bring your documents", "Say who competes, and who judges"],
  ],
] as const)("%s", async (_, items, counts, done) => {
  const answers = (request: Request) =>
    Promise.resolve(Response.json(request.url.includes("provider-keys") ? { items } : { counts }));
  vi.stubGlobal("fetch", vi.fn(answers));
  await renderPage(<FirstSteps />);
  await waitFor(() => expect(screen.queryAllByRole("img", { name: "done" })).toHaveLength(done.length));
  const ticked = screen.queryAllByRole("img", { name: "done" }).map((tick) => tick.closest("h3")?.textContent);
  expect(ticked.map((title, at) => title?.startsWith(done[at] ?? ""))).toEqual(done.map(() => true));
});
