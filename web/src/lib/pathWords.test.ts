import { expect, test } from "vitest";
import { pathInWords } from "./pathWords";

test("a path of the API is told in words, counted from one", () => {
  expect(pathInWords("generation.candidates[2].model")).toBe("Candidate 3, model");
  expect(pathInWords("configuration.comparison.judges[0].weight")).toBe("Comparison, judge 1, weight");
  expect(pathInWords("body[4].scale")).toBe("Criterion 5, scale");
  expect(pathInWords("base_url")).toBe("Base url");
  expect(pathInWords("generation")).toBe("Generation");
});

test("a cell of a table is told as the service counts it, with the name of its column unchanged", () => {
  expect(pathInWords("rows[12].final_answer")).toBe("Row 12, column final_answer");
  expect(pathInWords("rows[12].columns[3]")).toBe("Row 12, column 3");
  expect(pathInWords("rows[12]")).toBe("Row 12");
  expect(pathInWords("rows")).toBe("Rows");
  expect(pathInWords("columns[2]")).toBe("Column 2");
  expect(pathInWords("configuration.rows.row")).toBe("Row");
  // A field of a request, which counts from zero.
  expect(pathInWords("columns[2].role")).toBe("Column 3, role");
});
