import { cleanup } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import type { Report } from "../../../api/types";
import { renderPage } from "../../../testing/renderPage";
import { LooksTable } from "./LooksTable";

afterEach(cleanup);

const LOOKS = [
  { number: 1, documents: 10, leader: "A", dropped: ["C", "D"], decided: false, saved: 48 },
  { number: 2, documents: 15, leader: "A", dropped: [], decided: false, saved: 0 },
  { number: 3, documents: 20, leader: "A", dropped: ["B"], decided: true, saved: 12 },
] as const;

const candidates = ["A", "B", "C", "D"].map((candidate) => ({ candidate }));
const report = (looks: readonly (typeof LOOKS)[number][]) =>
  ({ candidates, looks, progress: { total: 40, saved: 60, saved_cost: "0.5" } }) as unknown as Report;

test("each look says whom it dropped and what that saved", async () => {
  const page = await renderPage(<LooksTable report={report(LOOKS)} />);
  const rows = [...page.querySelectorAll("tbody tr")].map((row) => row.textContent);
  expect(rows).toEqual(["Look 110 C,  D48", "Look 215nobody0", "Look 320 A is best: nothing more was asked12"]);
  const marks = [...page.querySelectorAll("tbody .candidate-mark")].map((mark) => mark.classList[2]);
  expect(marks).toEqual(["series-3", "series-4", "series-1"]);
  // On a phone, each figure says what it is.
  const labels = [...page.querySelectorAll<HTMLElement>("tbody tr:first-child td")].map((one) => one.dataset.label);
  expect(labels).toEqual(["Documents", "Dropped", "Calls saved"]);
  expect(page.textContent).toContain("The looks saved 60 of 100 calls, about $0.50.");
});

test("calls that cost nothing saved no money", async () => {
  const free = { ...report(LOOKS), progress: { total: 40, saved: 60, saved_cost: "0" } } as Report;
  const page = await renderPage(<LooksTable report={free} />);
  expect(page.textContent).toContain("The looks saved 60 of 100 calls. A look");
});

test("looks that saved nothing are not shown", async () => {
  const page = await renderPage(<LooksTable report={report(LOOKS.slice(1, 2))} />);
  expect(page.querySelector("table")).toBeNull();
});
