import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { GateResult, Report, Run } from "../../../api/types";
import { renderPage } from "../../../testing/renderPage";
import { GatePanel } from "./GatePanel";

const RUN = { id: "r" } as Run;
const reportOf = (...labels: string[]) =>
  ({ candidates: labels.map((candidate) => ({ candidate })) }) as unknown as Report;
const CHANGE = { difference: -0.02, low: -0.081, high: 0.04, documents: 120, independent: 120 };
const UNDECIDED: GateResult = {
  outcome: "undecided",
  sentence: "Whether new is worse than today by 5 points cannot be told. About 310 documents would tell.",
  candidate: "new",
  baseline: "today",
  margin: 0.05,
  sources: [
    {
      kind: "comparisons",
      name: "",
      decides: true,
      change: { ...CHANGE, outcome: "undecided", needed: 310 },
    },
    { kind: "check", name: "short", decides: false, change: null },
  ],
  needed: 310,
};

let asked: string[];
let answer: GateResult;
beforeEach(() => {
  asked = [];
  answer = UNDECIDED;
  vi.stubGlobal("fetch", (input: Request) => {
    const { pathname, search } = new URL(input.url);
    asked.push(`${pathname}${search}`);
    return Promise.resolve(Response.json(answer));
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const choose = (label: string, value: string) => fireEvent.change(screen.getByLabelText(label), { target: { value } });

test("of two candidates, the baseline is enough, and what cannot be told names the documents that would tell", async () => {
  const page = await renderPage(<GatePanel run={RUN} report={reportOf("today", "new")} />);
  expect(asked).toEqual([]);
  choose("Baseline", "today");
  await screen.findByText("Cannot be told", { selector: ".chip.warn" });
  expect(asked).toEqual(["/api/runs/r/gate?baseline=today&candidate=new&margin=0.05"]);
  expect(screen.getByText(/About 310 documents would tell\./)).toBeTruthy();
  const rows = [...page.querySelectorAll("tbody tr")].map((row) => row.textContent.replaceAll("\u00a0", " "));
  expect(rows).toEqual([
    "Pairs with the baseline Cannot be told48 %42 % to 54 %120about 310",
    "Check shortcan only objectCannot be told––0–",
  ]);
});

test("of several candidates, both are chosen, and another margin asks again", async () => {
  answer = { ...UNDECIDED, outcome: "not_worse", sources: [], needed: null };
  await renderPage(<GatePanel run={RUN} report={reportOf("today", "new", "newer")} />);
  choose("Baseline", "today");
  expect(asked).toEqual([]);
  choose("Candidate", "newer");
  await screen.findByText("Not worse");
  choose("Too much worse is", "10");
  await waitFor(() => expect(asked).toHaveLength(2));
  expect(asked[1]).toBe("/api/runs/r/gate?baseline=today&candidate=newer&margin=0.1");
});

test("a run of one candidate has no baseline to ask about", async () => {
  const page = await renderPage(<GatePanel run={RUN} report={reportOf("today")} />);
  expect(page.querySelector("section")).toBeNull();
});
