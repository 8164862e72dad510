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

test("the report wears the app's dark colours, and its verdict the app's weight", () => {
  const [report, run] = ["../../src/carrel/reports/templates/report.css", "styles/run.css"].map((file) =>
    readFileSync(path.join(SRC, file), "utf8"),
  );
  const tokens = readFileSync(path.join(SRC, "styles", "tokens.css"), "utf8");
  const dark = report.slice(report.indexOf("prefers-color-scheme: dark"));
  const names = { paper: "paper", surface: "card", ink: "ink", "ink-2": "dim", line: "line" };
  for (const [token, name] of Object.entries(names)) {
    const colour = tokens.match(new RegExp(`--${token}: light-dark\\(#\\w+, (#\\w+)\\)`))?.[1];
    expect(dark).toContain(`--${name}: ${colour};`);
  }
  const weight = run.match(/\.verdict \.sentence \{\s*font: (\d+)/)?.[1];
  expect(report).toMatch(new RegExp(`\\.verdict h2 \\{[^}]*font-weight: ${weight};`));
});
