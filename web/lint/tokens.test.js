import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

const SRC = path.join(import.meta.dirname, "..", "src");
const COLOUR = /#[0-9a-f]{3,8}\b|\b(?:rgba?|hsla?|oklch|light-dark)\(/i;
/** `em` follows the text around it, and is no size of its own. */
const SIZE = /\bfont(?:-size)?:[^;]*?\b\d*\.?\d+(?:px|rem|pt)\b/;
const RADIUS = /\bborder-radius:\s*(?!0\b|50%|99px)[\d.]+(?:px|rem)/;

const files = readdirSync(SRC, { recursive: true, encoding: "utf8" });
const lines = (file) => readFileSync(path.join(SRC, file), "utf8").split("\n");

test("colours, sizes of text and radii stand in the tokens only", () => {
  const sheets = files.filter((file) => file.endsWith(".css") && path.basename(file) !== "tokens.css");
  const found = sheets.flatMap((file) =>
    lines(file)
      .filter((line) => [COLOUR, SIZE, RADIUS].some((pattern) => pattern.test(line)))
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(found).toEqual([]);
});

test("components name no colour of their own", () => {
  const found = files
    .filter((file) => file.endsWith(".tsx") && !file.includes(".test."))
    .flatMap((file) =>
      lines(file)
        .filter((line) => /["'`](?:#[0-9a-f]{3,8}|(?:rgba?|hsla?)\([^"'`]*)["'`]/i.test(line))
        .map((line) => `${file}: ${line.trim()}`),
    );
  expect(found).toEqual([]);
});
