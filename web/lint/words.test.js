import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

const SRC = path.join(import.meta.dirname, "..", "src");
/** A number and the name of several things: right for 2 of them, and "1 rows" for one; `formats.counted` knows. */
const PLURAL =
  /\binteger\((?:[^()]|\([^()]*\))*\)\}(?:\{" "\})?\s+(?:more |older )?(?!this\b|ms\b|is\b|knows\b)[a-z]+s\b/g;

test("one thing is told as one", () => {
  const sources = readdirSync(SRC, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.tsx?$/.test(file) && !file.includes(".test."))
    .map((file) => [file, readFileSync(path.join(SRC, file), "utf8")]);
  const found = sources.flatMap(([file, text]) => [...text.matchAll(PLURAL)].map(([words]) => `${file}: ${words}`));
  expect(found).toEqual([]);
});
