/** The meaning of a word is there for a mouse, for a keyboard and for a finger. */
import { act, cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { GLOSSARY } from "../lib/glossary";
import { renderPage } from "../testing/renderPage";
import { Term } from "./Term";

afterEach(cleanup);

const shown = () => screen.queryByRole("tooltip")?.textContent;

test("the focus of a keyboard shows it, names it to screen readers, and Escape hides it", async () => {
  await renderPage(<Term of="flip">Flips</Term>);
  const word = screen.getByRole("button", { name: "Flips" });
  expect(shown()).toBeUndefined();
  fireEvent.keyDown(document.body, { key: "Tab" });
  act(() => word.focus());
  expect(shown()).toBe(GLOSSARY.flip.meaning);
  expect(word.getAttribute("aria-describedby")).toBe(screen.getByRole("tooltip").id);
  fireEvent.keyDown(word, { key: "Escape" });
  expect(shown()).toBeUndefined();
});

test("a tap shows it", async () => {
  await renderPage(<Term of="alpha">α</Term>);
  fireEvent.click(screen.getByRole("button", { name: "α" }));
  expect(shown()).toBe(GLOSSARY.alpha.meaning);
});
