import { expect, test } from "vitest";
import { tagsIn } from "./tags";

test("tags are what stands between commas, each once, and nothing empty", () => {
  expect(tagsIn(" a, b ,,a, two words,")).toEqual(["a", "b", "two words"]);
  expect(tagsIn("")).toEqual([]);
});
