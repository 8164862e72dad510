/** The table that all lists share: words, sums, columns without an order, and how close its rows stand. */
import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { useSettings } from "../../app/settings";
import { renderPage } from "../../testing/renderPage";
import type { Column } from "./column";
import { DataTable } from "./DataTable";

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

interface Model {
  name: string;
  calls: number;
}
const COLUMNS: [Column<Model>, ...Column<Model>[]] = [
  { id: "name", label: "Model", isText: true, value: ({ name }) => name, cell: ({ name }) => name, total: "All" },
  { id: "calls", label: "Calls", isBestHigh: true, value: ({ calls }) => calls, cell: ({ calls }) => calls, total: 45 },
  { id: "drop", label: "What to do", cell: ({ name }) => <button type="button">Drop {name}</button> },
];
const modelsOf = (count: number): Model[] =>
  Array.from({ length: count }, (_, at) => ({ name: `openai:m${at}`, calls: at }));

const show = (rows: Model[]) =>
  renderPage(
    <DataTable
      label="Models"
      unsorted="As they came"
      rows={rows}
      keyOf={({ name }) => name}
      columns={COLUMNS}
      wordsOf={({ name }) => name}
    />,
  );
const names = () => [...document.querySelectorAll("tbody th")].map(({ textContent }) => textContent);

test("a few rows have no filter, and many are found by words", async () => {
  await show(modelsOf(8));
  expect(screen.queryByRole("searchbox")).toBeNull();
  cleanup();
  await show(modelsOf(12));
  fireEvent.change(screen.getByRole("searchbox", { name: "Filter: Models" }), { target: { value: "M1 openai" } });
  expect(names()).toEqual(["openai:m1", "openai:m10", "openai:m11"]);
  fireEvent.change(screen.getByRole("searchbox"), { target: { value: "anthropic" } });
  expect(screen.getByText("No row has these words.")).toBeTruthy();
});

test("sums stand below whatever the order is, and a column of buttons is neither sorted nor left out", async () => {
  await show(modelsOf(3));
  fireEvent.click(screen.getByRole("button", { name: "Calls" }));
  expect(names()).toEqual(["openai:m2", "openai:m1", "openai:m0"]);
  expect(document.querySelector("tfoot tr")?.textContent).toBe("All45");
  expect(screen.queryByRole("button", { name: "What to do" })).toBeNull();
  fireEvent.click(screen.getByRole("button", { name: /^Columns/ }));
  expect(screen.getAllByRole("checkbox").map((box) => box.parentElement?.textContent)).toEqual(["Calls"]);
  fireEvent.click(screen.getByRole("checkbox"));
  expect(document.querySelector("tbody tr")?.textContent).toBe("openai:m2Drop openai:m2");
});

test("each figure says what it is and one control sorts, since a phone shows no heads", async () => {
  await show(modelsOf(3));
  expect(
    [...document.querySelectorAll<HTMLElement>("tbody tr:first-child td")].map((one) => one.dataset.label),
  ).toEqual(["Calls", undefined]);
  expect(document.querySelector<HTMLElement>("tfoot td")?.dataset.label).toBe("Calls");
  fireEvent.change(screen.getByRole("combobox", { name: "Sort by" }), { target: { value: "calls" } });
  expect(names()).toEqual(["openai:m2", "openai:m1", "openai:m0"]);
});

test("of many rows those in sight are drawn, and the table says how many there are", async () => {
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(640);
  vi.spyOn(HTMLElement.prototype, "offsetHeight", "get").mockReturnValue(64);
  await show(modelsOf(500));
  await waitFor(() => expect(names().length).toBeGreaterThan(5));
  expect(names().length).toBeLessThan(100);
  expect(screen.getByRole("table").getAttribute("aria-rowcount")).toBe("501");
});

/** Asks for the settings, as the app does around all tables. */
function WithSettings() {
  useSettings();
  return <DataTable label="Models" unsorted="" rows={modelsOf(1)} keyOf={({ name }) => name} columns={COLUMNS} />;
}

test("the density that is chosen at one table is saved as the user's, and nothing else changes with it", async () => {
  const saved: unknown[] = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    if (request.method !== "PUT") return Response.json({ theme: "dark" }, { headers: { etag: '"1"' } });
    saved.push(await request.clone().json(), request.headers.get("If-Match"));
    return new Response(await request.text(), { headers: { etag: '"2"', "Content-Type": "application/json" } });
  });
  await renderPage(<WithSettings />);
  fireEvent.click(screen.getByRole("button", { name: /^Columns/ }));
  await waitFor(() => {
    fireEvent.click(screen.getByRole("radio", { name: "Compact" }));
    expect(saved).toEqual([{ theme: "dark", density: "compact" }, '"1"']);
  });
  await waitFor(() => expect(screen.getByRole("radio", { name: "Compact" }).getAttribute("aria-checked")).toBe("true"));
});
