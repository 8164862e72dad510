import { expect, test } from "vitest";
import type { Model } from "../api/types";
import { hintForModel, nearest, writesTexts } from "./modelNames";

const MODELS = [
  { model: "openai:gpt-5-mini", provider: "openai", reason: null },
  { model: "openai:gpt-5", provider: "openai", reason: null },
  { model: "local:lead", provider: "local", reason: null },
] as Model[];

test("a misspelt model is told while it is typed, with the one that was meant", () => {
  expect(hintForModel("openai:gpt-5-mni", MODELS)).toBe(
    "“gpt-5-mni” is not among the 2 models of openai that you can call. Did you mean openai:gpt-5-mini?",
  );
  expect(hintForModel("gpt-5-mini", MODELS)).toBe("Did you mean openai:gpt-5-mini?");
  expect(hintForModel("openai:gpt-5", MODELS)).toBeUndefined();
  expect(hintForModel("", MODELS)).toBeUndefined();
});

test("a model without a key is told so", () => {
  expect(hintForModel("anthropic:claude-sonnet-4-5", MODELS)).toBe("No key of yours opens models of anthropic.");
});

test("nothing is proposed that is far from what was typed", () => {
  expect(nearest("openai:o3", MODELS)).toBeUndefined();
  expect(nearest("zzz", MODELS)).toBeUndefined();
});

test("models for sounds and pictures are told from those that write", () => {
  expect(
    ["openai:gpt-4o-mini-tts", "openai:text-embedding-3-small", "openai:gpt-5"].map((model) => writesTexts({ model })),
  ).toEqual([false, false, true]);
});
