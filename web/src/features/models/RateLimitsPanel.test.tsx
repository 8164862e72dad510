import { cleanup, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { renderPage } from "../../testing/renderPage";
import { RateLimitsPanel } from "./RateLimitsPanel";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const LIMIT = {
  ...{ provider: "openai", is_default: true, requests_per_minute: 500, tokens_per_minute: null },
  ...{ concurrency: 64, concurrency_now: 32, in_flight: 4 },
};

test("on a phone the button has a row of its own at the right of the card, and is no figure", async () => {
  vi.stubGlobal("fetch", () => Promise.resolve(Response.json({ items: [LIMIT] })));
  await renderPage(<RateLimitsPanel />);
  const button = await screen.findByRole("button", { name: "Change the limits of openai" });
  expect(button.closest("td")?.className).toBe("whole");
  expect(button.parentElement?.className).toBe("row end");
});
