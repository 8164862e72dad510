/** What a comparison takes is asked again once another text is kept, which has the id of the one before. */
import { useQuery } from "@tanstack/react-query";
import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { useState } from "react";
import { afterEach, expect, test, vi } from "vitest";
import { useApi } from "../../../app/context";
import { renderPage } from "../../../testing/renderPage";
import { rehearsalQuery } from "../../../api/queries";
import type { Prompt } from "./setup";
import { usePrompts } from "./usePrompts";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function Written() {
  const [prompts, setPrompts] = useState<Prompt[]>([{ text: "Answer.", contentId: "p", kept: "Answer." }]);
  const change = (number: number, part: Partial<Prompt>) =>
    setPrompts((before) => before.map((prompt, at) => (at === number ? { ...prompt, ...part } : prompt)));
  usePrompts(prompts, change);
  useQuery(rehearsalQuery(useApi(), { inputs: ["d"], instructions: "p", generation: { candidates: [] } }));
  return <button onClick={() => change(0, { text: "Answer {{documnt}}." })}>Write</button>;
}

test("a changed text is kept, and then the estimate is made anew", async () => {
  const asked: string[] = [];
  vi.stubGlobal("fetch", (request: Request) => {
    asked.push(`${request.method} ${new URL(request.url).pathname}`);
    return Promise.resolve(Response.json({ id: "p" }));
  });
  await renderPage(<Written />);
  await waitFor(() => expect(asked).toEqual(["POST /api/runs"]));
  fireEvent.click(screen.getByRole("button", { name: "Write" }));
  await waitFor(() => expect(asked).toEqual(["POST /api/runs", "PUT /api/contents/p", "POST /api/runs"]), {
    timeout: 20_000,
  });
}, 30_000);
