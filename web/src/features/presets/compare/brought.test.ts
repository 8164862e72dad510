import { expect, test } from "vitest";
import { first, isSuite, mayHoldResults, othersOf } from "./brought";

test.each([
  ["promptfooconfig.yaml", "prompts:\n  - a\nproviders: [openai:gpt-5]\ntests: tests.csv\n", true],
  ["suite.json", '{"prompts": ["a"], "providers": ["openai:gpt-5"]}', true],
  ["out.json", '{"evalId": "e", "results": {}, "config": {"prompts": [], "providers": []}}', false],
  ["out.yaml", "evalId: e\nresults: {}\nprompts: []\n", false],
  ["criteria.yaml", "- name: short\n  weight: 1\n", false],
  ["rows.json", '[{"prompts": 1, "providers": 2}]', false],
  ["broken.json", '{"prompts": ', false],
  ["notes.md", "prompts:\nproviders:\n", false],
])("%s is a suite of promptfoo or not", (name, text, wanted) => {
  expect(isSuite(name, text)).toBe(wanted);
});

test("a text in YAML holds results only if it says so, and a suite comes before the files that it names", () => {
  expect([
    mayHoldResults({ name: "a.yaml" }, "name: a"),
    mayHoldResults({ name: "a.yaml" }, "results:\n"),
    mayHoldResults({ name: "a.csv" }, "a,b"),
  ]).toEqual([false, true, true]);
  const files = ["tests.csv", "promptfooconfig.yaml", "a.md"].map((name) => new File([""], name));
  expect(first(files)?.name).toBe("promptfooconfig.yaml");
  expect(first(files.slice(2))).toBeUndefined();
});

test("files of one kind may be one table, unless there are more than ten", () => {
  const [table, ...others] = ["a.csv", "b.CSV", "c.jsonl", "d.csv"].map((name) => new File([""], name));
  expect(table && othersOf(table, others).map(({ name }) => name)).toEqual(["b.CSV", "d.csv"]);
  expect(table && othersOf(table, Array<File>(10).fill(table))).toEqual([]);
});
