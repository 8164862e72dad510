import { cleanup, render } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { Breakable } from "./Breakable";

afterEach(cleanup);

const shown = (name: string) => render(<Breakable name={name} />).container;
const partsOf = (name: string) =>
  shown(name)
    .innerHTML.replaceAll(/<\/?span[^>]*>/g, "")
    .split("<wbr>");

test.each([
  ["docs/coverage.md", ["docs/", "coverage.md"]],
  ["thread_51361.md", ["thread_", "51361.md"]],
  ["docs/.md", ["docs/.md"]],
  ["notes.2026.final.txt", ["notes", ".2026", ".final.txt"]],
  ["local:reader", ["local:", "reader"]],
  ["gpt-4.1-mini", ["gpt-", "4.1-", "mini"]],
])("a line may end in %s at its marks, but not at its ending", (name, parts) => {
  expect(partsOf(name)).toEqual(parts);
});

test("where a word has to be broken, its ending is not", () => {
  expect(shown("docs/dependencies.md").querySelector(".ending")?.textContent).toBe("ies.md");
  expect(shown("docs/.md").querySelector(".ending")?.textContent).toBe(".md");
  expect(shown("local:reader").querySelector(".ending")).toBeNull();
});
