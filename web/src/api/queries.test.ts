import { QueryClient } from "@tanstack/react-query";
import { expect, test } from "vitest";
import { keepModelsOf, modelsOfKeys } from "./queries";

test("the models of keys that were tried are known by their full names, each key's as it was tried last", () => {
  const queries = new QueryClient();
  expect(modelsOfKeys(queries)).toEqual([]);
  keepModelsOf(queries, "openai", ["old"]);
  keepModelsOf(queries, "mistral", ["large"]);
  keepModelsOf(queries, "openai", ["gpt-5", "gpt-5-mini"]);
  expect(modelsOfKeys(queries).toSorted()).toEqual(["mistral:large", "openai:gpt-5", "openai:gpt-5-mini"]);
});
