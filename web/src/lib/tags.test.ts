import { expect, test } from "vitest";
import { isFound, tagsIn } from "./tags";

test("tags are what stands between commas, each once, and nothing empty", () => {
  expect(tagsIn(" a, b ,,a, two words,")).toEqual(["a", "b", "two words"]);
  expect(tagsIn("")).toEqual([]);
});

test("something is found by a part of its name or of a tag, in any case", () => {
  const thing = { name: "Station books", tags: ["Harbour"] };
  expect(["", "  ", "BOOK", "harb"].map((words) => isFound(words, thing))).toEqual([true, true, true, true]);
  expect(isFound("lamp", thing)).toBe(false);
});
