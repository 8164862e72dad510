import { expect, test } from "vitest";
import { pathInWords } from "./pathWords";

test("a path of the API is told in words, counted from one", () => {
  expect(pathInWords("generation.candidates[2].model")).toBe("Candidate 3, model");
  expect(pathInWords("configuration.comparison.judges[0].weight")).toBe("Comparison, judge 1, weight");
  expect(pathInWords("body[4].scale")).toBe("Criterion 5, scale");
  expect(pathInWords("base_url")).toBe("Base url");
  expect(pathInWords("generation")).toBe("Generation");
});
