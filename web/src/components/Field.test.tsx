import { cleanup, createEvent, fireEvent, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { renderPage } from "../testing/renderPage";
import { TextArea, TextField } from "./Field";
import { Toasts } from "./Toasts";

afterEach(cleanup);

/** Whether the field takes what is pasted. */
function takes(text: string): boolean {
  const field = screen.getByLabelText("The text");
  const pasted = createEvent.paste(field, { clipboardData: { getData: () => text } });
  fireEvent(field, pasted);
  return !pasted.defaultPrevented;
}

test("a text of many megabytes is refused before it stops the page, and the way on is told", async () => {
  await renderPage(
    <>
      <TextArea label="The text" />
      <Toasts />
    </>,
  );
  expect(takes("a text")).toBe(true);
  expect(takes("x".repeat(10_000_000))).toBe(false);
  expect((await screen.findByRole("alert")).textContent).toContain(
    "10 million characters are more than a text may have. Bring a file.",
  );
});

test("what is written from right to left stands at the right", async () => {
  const page = await renderPage(
    <>
      <TextField label="A name" />
      <TextArea label="The text" />
    </>,
  );
  expect([...page.querySelectorAll("input, textarea")].map((field) => field.getAttribute("dir"))).toEqual([
    "auto",
    "auto",
  ]);
});
