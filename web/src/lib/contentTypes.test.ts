import { expect, test } from "vitest";
import { isTextFile } from "./contentTypes";

test("only files that are text are read here", () => {
  expect(isTextFile({ name: "notes.MD", type: "" })).toBe(true);
  expect(isTextFile({ name: "scan.pdf", type: "application/pdf" })).toBe(false);
});
