import { expect, test } from "vitest";
import { placeholders, variablesFor } from "./placeholders";

test("placeholders are found once each, and the reserved ones are none", () => {
  expect(
    placeholders("{{TONE}} for {{ AUDIENCE }}: {{document}} {{reference}} {{TONE}} {{}} {not} {{User  Name}} {{質問}}"),
  ).toEqual(["TONE", "AUDIENCE", "User Name", "質問"]);
});

test("a variable keeps its link while its placeholder stands", () => {
  expect(variablesFor("{{A}} {{B}}", { A: "content", C: "gone" })).toEqual({ A: "content", B: null });
});
