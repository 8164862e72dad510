import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import type { Run } from "../../../api/types";
import { renderPage } from "../../../testing/renderPage";
import type { Controls } from "../useControls";
import { ReevaluateDialog } from "./ReevaluateDialog";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const judge = (model: string) => ({ model, family: null, roles: ["judge"], available: true, description: "" });
const RUN = {
  id: "r",
  configuration: { inputs: ["d"], comparison: { judges: [{ model: "local:reader", weight: 2 }] } },
} as unknown as Run;

/** The dry run of a configuration costs a dollar for the answers, and two more for each judge. */
async function answer(input: Request): Promise<Response> {
  if (input.url.includes("/api/models")) {
    const own = [judge("local:reader")];
    return Response.json({
      items: input.url.includes("of_keys") ? [...own, judge("openai:gpt-5")] : own,
      providers: [],
    });
  }
  if (!input.url.includes("dry_run")) return Response.json({ items: [], next_cursor: null });
  const { configuration } = (await input.json()) as { configuration: Run["configuration"] };
  const judges = configuration.comparison?.judges.length ?? 0;
  const cost = `${1 + 2 * judges}`;
  return Response.json({ calls: { score: 0, compare: 30 * judges }, likely_cost: cost, worst_cost: cost });
}

test("a judge that a key opens is chosen, and the dialog says what differs and what it costs", async () => {
  vi.stubGlobal("fetch", answer);
  const mutate = vi.fn();
  const controls = { reevaluate: { mutate, isError: false, isPending: false } } as unknown as Controls;
  await renderPage(<ReevaluateDialog run={RUN} controls={controls} isOpen onClose={() => undefined} />);
  expect(await screen.findByText(/^Nothing differs/)).toBeTruthy();
  expect(await screen.findByText("This takes 30 calls and costs about $2.00, at most $2.00.")).toBeTruthy();
  fireEvent.change(screen.getByRole("combobox", { name: "Another judge" }), { target: { value: "openai:gpt-5" } });
  fireEvent.click(screen.getByRole("button", { name: "Add" }));
  fireEvent.click(screen.getByRole("checkbox", { name: "local:reader" }));
  await waitFor(() => {
    expect(screen.getByText(/openai:gpt-5 judges as well; local:reader does not judge/)).toBeTruthy();
  });
  fireEvent.click(screen.getByRole("button", { name: "Judge again" }));
  expect(mutate.mock.calls[0]?.[0]).toEqual({ judges: [{ model: "openai:gpt-5" }] });
});
