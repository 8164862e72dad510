import { cleanup, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import type { DryRun, PresetIn } from "../../api/types";
import { renderPage } from "../../testing/renderPage";
import { Estimate } from "./Estimate";
import { LimitsPart } from "./LimitsPart";

afterEach(cleanup);

test("a budget is asked for in US dollars; credits are only a way to pay", async () => {
  const draft: PresetIn = { name: "n", inputs: [], generation: { candidates: [] } };
  const page = await renderPage(<LimitsPart draft={draft} change={() => undefined} at={() => []} />);
  await waitFor(() => expect(screen.getByLabelText("Budget, US dollars")).toBeTruthy());
  expect(page.textContent.match(/credits?/gi)).toEqual(["Credits"]);
  expect(screen.getByRole("option", { name: "Credits", hidden: true })).toBeTruthy();
});

test("an estimate tells dollars, not credits", async () => {
  const estimate = {
    calls: { total: 1, generate: 1 },
    likely_cost: "0.0125",
    worst_cost: "2.5",
    documents: 1,
    candidates: 2,
    power: {
      documents: 1,
      documents_enough: null,
      documents_enough_low: null,
      chance: 0,
      chance_high: 0,
      candidates: 1,
      sentence: "",
    },
  } as unknown as DryRun;
  const page = await renderPage(<Estimate estimate={estimate} />);
  await waitFor(() => expect(page.textContent).toMatch(/Likely cost\$0\.0125At worst\$2\.50/));
  expect(page.textContent).not.toMatch(/credit/i);
  cleanup();
  const known_part = {
    likely_cost: "0.42",
    worst_cost: "1.3",
    likely_unknown_calls: 12,
    worst_unknown_calls: 36,
    unpriced_models: ["ollama:llama3"],
  };
  const partly = { ...estimate, likely_cost: null, worst_cost: null, known_part };
  const told = await renderPage(<Estimate estimate={partly} />);
  await waitFor(() =>
    expect(told.textContent).toMatch(
      /Likely cost\$0\.42and 12 calls of unknown priceAt worst\$1\.30and 36 calls of unknown price/,
    ),
  );
  const link = screen.getByRole("link", { name: "ollama:llama3" }).getAttribute("href");
  expect(decodeURIComponent(link ?? "")).toBe("/models?tab=prices&find=ollama:llama3");
});
