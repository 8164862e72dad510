import { cleanup, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { renderPage } from "../../../testing/renderPage";
import { AnswersFilter } from "./AnswersFilter";
import type { Filter } from "./gridRows";

afterEach(cleanup);

const COUNTS = { all: 12, flips: 0, failed: 0, checks: 3, disagreement: 0, kept: 0 };

async function shown(filter: Filter, counts?: typeof COUNTS) {
  const nothing = () => undefined;
  await renderPage(<AnswersFilter filter={filter} onFilter={nothing} counts={counts} words="" onWords={nothing} />);
  const buttons = screen.getByRole("radiogroup", { name: "Which documents" });
  const select = screen.getByRole("combobox", { name: "Which documents", hidden: true });
  return [buttons, select].map((one) => [...one.children].map(({ textContent }) => textContent));
}

test.each([
  ["all", COUNTS, ["All 12", "Fails a check 3"]],
  ["kept", COUNTS, ["All 12", "Fails a check 3", "Kept 0"]],
  ["all", undefined, ["All"]],
] as const)("with %s chosen, the filters that some document fits are shown", async (filter, counts, words) => {
  expect(await shown(filter, counts)).toEqual([words, words]);
});
