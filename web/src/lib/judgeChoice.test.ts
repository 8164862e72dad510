import { expect, test } from "vitest";
import type { Model } from "../api/types";
import { judgesFor } from "./judgeChoice";

function model(name: string, family: string, price?: string): Model {
  return {
    model: name,
    provider: name.split(":")[0],
    family,
    roles: name.startsWith("local:") ? ["judge"] : ["generate", "judge"],
    available: true,
    context_tokens: 128_000,
    prices: price ? { input_per_million: price, output_per_million: price } : null,
  } as Model;
}

const OWN = [model("local:reader", "local"), model("local:statistician", "local")];
const RENTED = [
  model("openai:gpt-5", "openai", "5"),
  model("openai:gpt-5-mini", "openai", "0.5"),
  model("mistral:small", "mistral", "0.1"),
  model("anthropic:haiku", "anthropic", "1"),
  model("openai:text-embedding", "openai", "0.01"),
];
const names = (models: Model[]) => models.map((one) => one.model);

test("the two cheapest judges of families that do not compete", () => {
  expect(names(judgesFor([...OWN, ...RENTED], ["openai:gpt-5"]))).toEqual(["mistral:small", "anthropic:haiku"]);
});

test("with one key only, the others of that key judge", () => {
  const ofOne = [...OWN, model("x:a", "x"), model("x:b", "x"), model("x:c", "x"), model("x:d", "x")];
  expect(names(judgesFor(ofOne, ["x:a", "x:b"]))).toEqual(["x:c", "x:d"]);
});

test("without a key the built-in judges judge", () => {
  expect(names(judgesFor(OWN, ["local:lead"]))).toEqual(["local:reader", "local:statistician"]);
});
