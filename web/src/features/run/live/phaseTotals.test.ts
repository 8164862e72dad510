import { expect, test } from "vitest";
import type { Configuration } from "../../../api/types";
import { phaseTotals } from "./phaseTotals";

const judges = [{ model: "openai:a" }, { model: "local:reader" }];

function configuration(changes: object = {}): Configuration {
  return {
    inputs: ["d1", "d2"],
    generation: { candidates: [{ model: "openai:a" }, { model: "openai:b" }, { model: "local:lead" }], repeats: 1 },
    scoring: { judges, criteria: "c", repeats: 1 },
    comparison: { judges },
    ...changes,
  };
}

test("each phase has as many tasks as the plan says", () => {
  expect(phaseTotals(configuration(), 2 * (3 + 6 + 12))).toEqual({ generate: 6, score: 12, compare: 24, combine: 0 });
});

test("what always says the same is asked once, and combined answers are judged too", () => {
  const generation = { candidates: [{ model: "openai:a" }, { model: "local:lead" }], repeats: 3 };
  const found = phaseTotals(
    configuration({ inputs: ["d1"], generation, combination: { candidates: [{ model: "openai:a" }] } }),
    4 + 10 + 4 * (3 + 4) + 1,
  );
  expect(found).toEqual({ generate: 4, score: 10, compare: 28, combine: 1 });
});

test("nothing is said where the service counts differently", () => {
  expect(phaseTotals(configuration(), 40)).toBeUndefined();
});
