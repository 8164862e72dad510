import { cleanup, fireEvent, screen } from "@testing-library/react";
import { ApiError } from "carrel-sdk";
import { afterEach, expect, test, vi } from "vitest";
import { renderPage } from "../../../testing/renderPage";
import type { Rehearsed } from "../useRehearsal";
import { EMPTY } from "./setup";
import { StartCard } from "./StartCard";

afterEach(cleanup);

test("of a data set, a try takes the first row or the one of a number, and nothing that is no number", async () => {
  const onTry = vi.fn();
  const rows = { data_set: "s1", where: { lang: "de" } };
  const idle = { isPending: false, error: null };
  await renderPage(
    <StartCard
      setup={{ ...EMPTY, rows, prompts: [{ text: "Answer." }], models: ["local:lead"] }}
      documents={[]}
      rehearsal={{} as Rehearsed}
      missing={[]}
      canStart
      start="Compare"
      tries={idle}
      onTry={onTry}
      starts={idle}
      onStart={vi.fn()}
      saves={idle}
      onSave={vi.fn()}
      onGo={vi.fn()}
    />,
  );
  const button = screen.getByRole("button", { name: "Try on one" });
  const row = screen.getByLabelText("Try on row");
  fireEvent.click(button);
  fireEvent.change(row, { target: { value: "12" } });
  fireEvent.click(button);
  expect(onTry.mock.calls).toEqual([[rows], [{ ...rows, row: 12 }]]);
  fireEvent.change(row, { target: { value: "0" } });
  fireEvent.click(button);
  expect(screen.getByText("Write the number of a row: 1 is the first.")).toBeTruthy();
  expect(onTry).toHaveBeenCalledTimes(2);
});

test("a misspelt name in the task is told while it is written, with the way to the task and without a code", async () => {
  const faults = [{ path: "instructions.variables.documnt", message: "has no value" }];
  const error = new ApiError(400, "variables-open", "Some variables have no value.", faults, "r1", undefined);
  const onGo = vi.fn();
  const idle = { isPending: false, error: null };
  const page = await renderPage(
    <StartCard
      setup={{ ...EMPTY, documents: ["d"], prompts: [{ text: "Answer {{documnt}}." }], models: ["a:b", "a:c"] }}
      documents={[]}
      rehearsal={{ error } as unknown as Rehearsed}
      missing={[]}
      canStart
      start="Compare"
      tries={idle}
      onTry={vi.fn()}
      starts={{ isPending: false, error }}
      onStart={vi.fn()}
      saves={idle}
      onSave={vi.fn()}
      onGo={onGo}
    />,
  );
  expect(page.querySelector(".note")?.textContent).toContain("{{documnt}}, which stands for nothing here");
  expect(page.querySelectorAll(".note")).toHaveLength(1);
  expect(page.textContent).not.toContain("variables-open");
  fireEvent.click(screen.getByRole("button", { name: "The task" }));
  expect(onGo).toHaveBeenCalledWith("instructions");
});

test("where no judge is good enough, the page says why before anything starts, and a try needs none", async () => {
  const idle = { isPending: false, error: null };
  const onGo = vi.fn();
  await renderPage(
    <StartCard
      setup={{ ...EMPTY, documents: ["d"], prompts: [{ text: "Answer." }], models: ["a:b", "a:c"] }}
      documents={[]}
      rehearsal={{} as Rehearsed}
      missing={[{ part: "comparison", words: "No model that your keys open is good enough." }]}
      canStart={false}
      start="Compare"
      tries={idle}
      onTry={vi.fn()}
      starts={idle}
      onStart={vi.fn()}
      saves={idle}
      onSave={vi.fn()}
      onGo={onGo}
    />,
  );
  fireEvent.click(screen.getByRole("button", { name: "No model that your keys open is good enough." }));
  expect(onGo).toHaveBeenCalledWith("comparison");
  expect(screen.getByRole("button", { name: "Compare" })).toHaveProperty("disabled", true);
  expect(screen.getByRole("button", { name: "Try on one" })).toHaveProperty("disabled", false);
});
