import { expect, test } from "vitest";
import { wordsForError } from "./errorWords";

test("nobody is sent to a field of JSON", () => {
  expect(wordsForError(new Error("The input breaks a rule; see errors."))).toBe("The input breaks a rule.");
  expect(wordsForError(new Error("There is no such run."))).toBe("There is no such run.");
  expect(wordsForError("what?")).toBe("Something went wrong.");
});
