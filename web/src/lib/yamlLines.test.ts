import { expect, test } from "vitest";
import { lineIn, spanOf, withoutLine } from "./yamlLines";

test("a fault names its line, which is left out beside its field", () => {
  expect(lineIn("must be a number (line 6)")).toBe(6);
  expect(lineIn("must be valid YAML; it cannot be read at line 12")).toBe(12);
  expect(lineIn("must be a list of criteria")).toBeUndefined();
  expect(withoutLine("must be a number (line 6)")).toBe("must be a number");
});

test("a line is found among the characters", () => {
  expect(spanOf("ab\ncde\nf", 2)).toEqual([3, 6]);
  expect(spanOf("ab", 5)).toEqual([2, 2]);
});
