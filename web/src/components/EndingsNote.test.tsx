/** What is switched off is told with the service's own words, and nothing is told of the rest. */
import { cleanup, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import type { Configuration, Model } from "../api/types";
import { renderPage } from "../testing/renderPage";
import { EndingsOf } from "./EndingsNote";
import { ModelFacts } from "./ModelFacts";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const CONFIGURATION = {
  generation: { candidates: [{ model: "openai:old" }, { model: "openai:new" }, { model: null, label: "today" }] },
  comparison: { judges: [{ model: "x:judge" }, { model: "openai:new" }] },
} as Configuration;

test("each model of a run is asked for once, and those that end are told with their source", async () => {
  const sentence = "openai:old is switched off in 14 days, on 11 December 2026.";
  const asked: string[][] = [];
  vi.stubGlobal("fetch", (request: Request) => {
    asked.push(new URL(request.url).searchParams.getAll("model"));
    const items = [{ model: "openai:old", ends_on: "2026-12-11", days: 14, source: "https://example.org", sentence }];
    return Promise.resolve(Response.json({ items, read_on: "2026-11-27" }));
  });
  await renderPage(<EndingsOf configuration={CONFIGURATION} />);
  expect(await screen.findByText(sentence)).toHaveProperty("title", "https://example.org");
  expect(asked).toEqual([["openai:old", "openai:new", "x:judge"]]);
});

test("a picker tells when a model ends, where that is known", async () => {
  const model = { provider: "openai", available: true, context_tokens: null, prices: null } as Model;
  await renderPage(
    <>
      <ModelFacts model={{ ...model, ends_on: "2026-12-11" }} />
      <ModelFacts model={{ ...model, ends_on: null }} />
    </>,
  );
  expect(screen.getByText("price unknown · ends 2026-12-11")).toBeTruthy();
  expect(screen.getByText("price unknown")).toBeTruthy();
});
