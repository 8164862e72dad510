import { cleanup, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { renderPage } from "../../../testing/renderPage";
import { TrialPart } from "./TrialPart";

const CANDIDATES = [{ label: "lead · A" }];
const SPEND = { cost: "0", tokens: { input: 0, output: 0 }, calls: 1, unpriced_calls: 0 };
const BODY = { id: "g1", task_key: "generate:1", body: "It stops.", finish_reason: "stop" };

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test("an answer that came between the reading of the tasks and of the end is shown, though nothing is heard any more", async () => {
  let asked = 0;
  vi.stubGlobal(
    "fetch",
    vi.fn(async (request: Request | string, init?: RequestInit) => {
      const { pathname } = new URL(typeof request === "string" ? request : request.url);
      const answer = (body: unknown) => Promise.resolve(Response.json(body));
      if (pathname.endsWith("/events"))
        return new Promise<Response>((_, stop) =>
          init?.signal?.addEventListener("abort", () => stop(new DOMException("stopped", "AbortError"))),
        );
      if (pathname.endsWith("/r1/tasks")) {
        asked += 1;
        const task = { key: "generate:1", candidate: "lead · A", document_name: "m1", attempts: 1, cost: "0" };
        const [state, generated_id] = asked > 1 ? ["succeeded", "g1"] : ["running", null];
        return answer({ items: [{ ...task, state, generated_id }] });
      }
      if (pathname.endsWith("/g1")) return answer({ ...BODY, tokens: { input: 3, output: 2 } });
      if (pathname.endsWith("/r1"))
        return new Promise((done) => {
          // The run is read after its tasks.
          setTimeout(
            () =>
              done(
                Response.json({
                  id: "r1",
                  state: "completed",
                  spend: SPEND,
                  configuration: { generation: { candidates: CANDIDATES } },
                }),
              ),
            20,
          );
        });
      return answer({ rows: [] });
    }),
  );
  await renderPage(<TrialPart runId="r1" isNew={false} />);
  await screen.findByText(/3 \+ 2 tokens/);
  expect(screen.queryByText("Answering")).toBeNull();
});
