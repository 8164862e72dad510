import { expect, test } from "vitest";
import { addressOf, holds, sorted, viewOf } from "./tableView";

test("what has no value comes last in either direction, and equal rows stay as they came", () => {
  const rows = [
    ["a", 2],
    ["b", null],
    ["c", 10],
    ["d", 2],
  ] as const;
  const names = (isDescending: boolean) => sorted(rows, ([, value]) => value, isDescending).map(([name]) => name);
  expect(names(false)).toEqual(["a", "d", "c", "b"]);
  expect(names(true)).toEqual(["c", "a", "d", "b"]);
  expect(sorted(rows, ([name]) => name, true).map(([name]) => name)).toEqual(["d", "c", "b", "a"]);
});

test.each([
  [{}, { by: undefined, isDescending: false, columns: undefined }],
  [{ sort: "-cost" }, { by: "cost", isDescending: true, columns: undefined }],
  [
    { sort: "name", columns: "cost,p50" },
    { by: "name", isDescending: false, columns: ["cost", "p50"] },
  ],
  [{ columns: "," }, { by: undefined, isDescending: false, columns: [] }],
])("an address %o says a view and is said by it", (address, view) => {
  expect(viewOf(address)).toEqual(view);
  expect(addressOf(view)).toEqual(address);
});

test("words are found in any order and in any case, and without words everything is", () => {
  expect(holds("openai:gpt-5 with Prompt B", "prompt GPT")).toBe(true);
  expect(holds("openai:gpt-5 with Prompt B", "prompt c")).toBe(false);
  expect(holds("anything", " ")).toBe(true);
});
