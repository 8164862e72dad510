/** Usage never passes an unknown cost off as nothing. */
import { cleanup, waitFor } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { renderPage } from "../../testing/renderPage";
import { UsagePanel } from "./UsagePanel";

vi.mock("./UsageChart", () => ({ UsageChart: () => null }));

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test("calls of which no cost is known have no figure for it", async () => {
  const totals = {
    calls: 435,
    unknown_calls: 435,
    input_tokens: 1,
    cached_read_tokens: 0,
    cached_write_tokens: 0,
    output_tokens: 1,
    cost: "0",
    charged: "0",
  };
  const items = [{ model: "ollama:llama3", day: "2026-11-25", totals }];
  vi.stubGlobal("fetch", () => Promise.resolve(Response.json({ items, total: totals })));
  const page = await renderPage(<UsagePanel />);
  await waitFor(() => expect(page.querySelectorAll("tbody tr, tfoot tr")).toHaveLength(2));
  for (const row of page.querySelectorAll("tbody tr, tfoot tr"))
    expect(row.querySelector("td:last-child")?.textContent).toBe("unknown435 calls of unknown cost");
  expect(page.textContent).not.toContain("built-in models cost nothing");
});
