import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import type { Report } from "../../api/types";
import { renderPage } from "../../testing/renderPage";
import { RoundChoice } from "./RoundChoice";

afterEach(cleanup);

const shown = async (round: number, rounds: number) => {
  const onChoose = vi.fn();
  const report = { round, rounds, judges: [{ judge: "openai:a" }, { judge: "openai:b" }] } as unknown as Report;
  await renderPage(<RoundChoice report={report} onChoose={onChoose} />);
  return onChoose;
};

test("every round can be chosen, the newest first, and an earlier one says what it is", async () => {
  const onChoose = await shown(1, 3);
  const choice = screen.getByRole("combobox", { name: "Round" });
  expect([...choice.children].map((one) => one.textContent)).toEqual(["3, the present one", "2", "1"]);
  expect(screen.getByText(/how round 1 ended, judged by openai:a, openai:b/)).toBeTruthy();
  fireEvent.change(choice, { target: { value: "2" } });
  fireEvent.change(choice, { target: { value: "3" } });
  expect(onChoose.mock.calls).toEqual([["2"], [undefined]]);
});

test("a run that was judged once has nothing to choose, and the present round nothing to say", async () => {
  await shown(1, 1);
  expect(screen.queryByRole("combobox")).toBeNull();
  cleanup();
  await shown(2, 2);
  expect(screen.queryByText(/ended/)).toBeNull();
});
