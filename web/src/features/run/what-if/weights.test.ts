import { expect, test } from "vitest";
import { textOfWeights, weightsIn } from "./weights";

const BEFORE = new Map([
  ["local:reader", 1],
  ["openai:one, or two=2", 2],
]);

test("what an address says comes back as it was", () => {
  const weights = new Map(BEFORE).set("local:reader", 0).set("openai:one, or two=2", 0.25);
  const text = textOfWeights(weights, BEFORE);
  expect(text).toBe("local:reader=0,openai:one%2C or two%3D2=0.25");
  expect(weightsIn(text, BEFORE)).toEqual(weights);
});

test("only what differs is said, and nothing where nothing does", () => {
  expect(textOfWeights(new Map(BEFORE).set("local:reader", 3), BEFORE)).toBe("local:reader=3");
  expect(textOfWeights(BEFORE, BEFORE)).toBeUndefined();
  expect(weightsIn(undefined, BEFORE)).toEqual(BEFORE);
});

test.each([
  "nobody=1",
  "local:reader=-1",
  "local:reader=1e9",
  "local:reader=",
  "local:reader=much",
  "local:reader",
  "%E0%A4%A=1",
  ",,=",
])("%s changes nothing", (text) => {
  expect(weightsIn(text, BEFORE)).toEqual(BEFORE);
});
