import { expect, test } from "vitest";
import { namesOf, taskInWords } from "./taskWords";

const NAMES = namesOf({
  generation: { candidates: [{ label: "gpt-5 · B", model: "openai:gpt-5" }, { model: "openai:mini" }] },
  combination: { candidates: [{ label: "both", model: "openai:gpt-5" }] },
});

test.each([
  ["r1.generate.d13.c1.s1", "Answer: document 13, gpt-5 · B"],
  ["r2.generate.d1.c2.s3", "Answer: document 1, openai:mini, repeat 3"],
  ["r1.combine.d4.c3", "Combined answer: document 4, both"],
  ["r1.score.d2.c1.s1.j2.s1", "Score: document 2, gpt-5 · B"],
  ["r1.score.d2.c1.s2.j2.s3", "Score: document 2, gpt-5 · B, repeat 2, judged again (3)"],
  ["r1.compare.d13.c1-c2.s1.j1.ab", "Pair: document 13, gpt-5 · B before openai:mini"],
  ["r1.compare.d13.c1-c2.s1.j1.ba", "Pair: document 13, openai:mini before gpt-5 · B"],
  ["r1.generate.d1.c9.s1", "Answer: document 1, candidate 9"],
  ["something else", ""],
])("the task %s is told in words", (key, words) => {
  expect(taskInWords(key, NAMES)).toBe(words);
});

test("a task names its document once the name is known", () => {
  const documents = new Map([[13, "Mail 4"]]);
  expect(taskInWords("r1.generate.d13.c1.s1", NAMES, documents)).toBe("Answer: Mail 4, gpt-5 · B");
  expect(taskInWords("r1.generate.d14.c1.s1", NAMES, documents)).toBe("Answer: document 14, gpt-5 · B");
});
