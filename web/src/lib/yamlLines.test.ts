import { expect, test } from "vitest";
import { faultsByLine, lineIn, lineOf, spanOf } from "./yamlLines";

const CRITERIA = `# What counts
- name: completeness
  description: |
    Holds the main points.
    - and no others
  weight: two

- name: clarity
  scale: {min: 1, max: 0}
-
  name: x
  scale:
    min: a
`;

test("a fault is told with the line of its field", () => {
  expect(lineOf(CRITERIA, "body[0].weight")).toBe(6);
  expect(lineOf(CRITERIA, "body[1].scale")).toBe(9);
  expect(lineOf(CRITERIA, "body[2].scale.min")).toBe(13);
  expect(lineOf(CRITERIA, "body[2].name")).toBe(11);
});

test("what stands nowhere is told with the line on which its entry begins", () => {
  expect(lineOf(CRITERIA, "body[1].name")).toBe(8);
  expect(lineOf(CRITERIA, "body[1].weight")).toBe(8);
  expect(lineOf(CRITERIA, "body[1]")).toBe(8);
});

test("a fault of the whole text has no line, unless the service tells one", () => {
  expect(lineOf(CRITERIA, "body")).toBeUndefined();
  expect(lineOf(CRITERIA, "body[9].name")).toBeUndefined();
  expect(lineOf("", "body[0]")).toBeUndefined();
  expect(lineIn("must be valid YAML; it cannot be read at line 12")).toBe(12);
  expect(lineIn("must be a list of criteria")).toBeUndefined();
});

test("a line is found among the characters", () => {
  expect(spanOf("ab\ncde\nf", 2)).toEqual([3, 6]);
  expect(spanOf("ab", 5)).toEqual([2, 2]);
});

test("a fault is told with its line and its field", () => {
  expect(faultsByLine(CRITERIA, [{ path: "body[0].weight", message: "must be a number" }])).toEqual([
    "Line 6, weight: must be a number",
  ]);
  expect(faultsByLine("- name: a", [{ path: "body", message: "is empty" }])).toEqual(["is empty"]);
  expect(faultsByLine("x", [{ path: "name", message: "is taken" }])).toEqual([]);
});
