import { act, cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { useState } from "react";
import { ApiError } from "carrel-sdk";
import { afterEach, expect, test, vi } from "vitest";
import type { CriterionRow } from "../../api/types";
import { NO_ROW } from "../../lib/criteria";
import { renderPage } from "../../testing/renderPage";
import { CriteriaEditor } from "./CriteriaEditor";

const YAML = "# Mine\n- name: coverage\n  weight: 3\n- name: clarity\n";
const ROWS: CriterionRow[] = [
  { ...NO_ROW, name: "coverage", weight: "3" },
  { ...NO_ROW, name: "clarity" },
];
const refusal = (path: string, message: string) => new ApiError(400, "invalid-input", "", [{ path, message }]);

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

/** The editor in a page that keeps the text; the service reads `YAML` and refuses everything else. */
async function opened(body: string) {
  vi.stubGlobal("fetch", async (request: Request) => {
    const sent = (await request.json()) as { body: string };
    return sent.body === YAML
      ? Response.json({ rows: ROWS, comments: true })
      : Response.json(
          { code: "invalid-input", errors: [{ path: "body", message: "must not use tags (line 2)" }] },
          { status: 400, headers: { "content-type": "application/problem+json" } },
        );
  });
  const kept = vi.fn<(body: string) => void>();
  let refuse: (error: unknown) => void = () => undefined;
  function Page() {
    const [text, setText] = useState(body);
    const [error, setError] = useState<unknown>();
    refuse = setError;
    return (
      <CriteriaEditor
        body={text}
        error={error}
        onChange={(next) => {
          kept(next);
          setText(next);
        }}
      />
    );
  }
  await renderPage(<Page />);
  return { kept, refuse: (path: string, message: string) => act(() => refuse(refusal(path, message))) };
}

const row = (name: string) => within(screen.getByRole("listitem", { name }));

test("criteria are rows, and a change is written as YAML", async () => {
  const { kept } = await opened(YAML);
  await screen.findByDisplayValue("coverage");
  expect(screen.getByText("counts 75 %")).toBeTruthy();
  expect(screen.getByText(/This text has comments/)).toBeTruthy();
  fireEvent.change(row("clarity").getByLabelText("Scale from"), { target: { value: "0" } });
  expect(kept).toHaveBeenLastCalledWith("- name: coverage\n  weight: 3\n- name: clarity\n  scale: {min: 0}\n");
  fireEvent.click(screen.getByRole("button", { name: "Remove coverage" }));
  expect(kept).toHaveBeenLastCalledWith("- name: clarity\n  scale: {min: 0}\n");
});

test("what the service refuses stands at its field, and the focus goes there", async () => {
  const { refuse } = await opened(YAML);
  await screen.findByDisplayValue("coverage");
  refuse("body[1].weight", "must be a number (line 5)");
  const weight = row("clarity").getByLabelText("Weight");
  await waitFor(() => expect(document.activeElement).toBe(weight));
  expect(row("clarity").getByRole("alert").textContent).toBe("must be a number");
  expect(row("coverage").queryByRole("alert")).toBeNull();
});

test("in YAML a fault leads to its line", async () => {
  const { refuse } = await opened(YAML);
  fireEvent.click(await screen.findByRole("radio", { name: "YAML" }));
  const area = screen.getByLabelText<HTMLTextAreaElement>("Criteria in YAML");
  refuse("body[0].weight", "must be a number (line 3)");
  expect(screen.getByRole("alert").textContent).toContain("Criterion 1, weight must be a number.");
  expect(document.activeElement).toBe(area);
  const start = YAML.indexOf("  weight: 3");
  expect([area.selectionStart, area.selectionEnd]).toEqual([start, start + "  weight: 3".length]);
});

test("YAML that is no list of criteria stays YAML, with the line of its fault", async () => {
  await opened("- name: a\n- !x b\n");
  expect(await screen.findByRole("button", { name: "Line 2" })).toBeTruthy();
  expect(screen.getByText(/cannot be shown as rows yet/)).toBeTruthy();
});

test("an empty list offers templates by task", async () => {
  const { kept } = await opened("");
  fireEvent.click(screen.getByRole("button", { name: "Translation" }));
  expect(kept.mock.lastCall?.[0]).toContain("- name: meaning\n  description: Says all that the original says");
  expect(screen.getAllByRole("listitem")).toHaveLength(4);
});
