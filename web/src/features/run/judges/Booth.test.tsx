import { act, cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { useState } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Ballot, Run } from "../../../api/types";
import { renderPage } from "../../../testing/renderPage";
import { Booth } from "./Booth";

/** What was sent, and the pairs that still wait, the next one first. */
let sent: [string, unknown][];
let waiting: string[];
/** What the next pair waits for, and what lets it come. */
let late: Promise<unknown>;
/** What ballots say besides. */
let ballot: Partial<Ballot>;

beforeEach(() => {
  sent = [];
  late = Promise.resolve();
  ballot = {};
  waiting = ["p1", "p2", "p3"];
  vi.stubGlobal("fetch", async (request: Request) => {
    const path = new URL(request.url).pathname.replace("/api/runs/r/votes", "");
    const body: unknown = await request.json().catch(() => null);
    if (path === "/next") await late;
    if (path === "/next")
      return waiting[0]
        ? Response.json({
            ...{ ...BALLOT, ...ballot, pair: waiting[0] },
            ...{ first: `First of ${waiting[0]}`, left: waiting.length - 1 },
          })
        : Response.json({ code: "nothing-to-vote-on", detail: "There is no pair." }, { status: 409 });
    sent.push([path, body]);
    if (path.endsWith("/undo")) waiting.unshift(path.split("/")[1] ?? "");
    else waiting.shift();
    return Response.json({});
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const BALLOT = {
  document_name: "d",
  document: "text",
  reference: null,
  instructions: null,
  criteria: [],
  rubric: {},
  second: "B",
};
const press = (key: string) => void fireEvent.keyDown(document.body, { key });
const opened = () => renderPage(<Booth run={{ id: "r" } as Run} voter="" onDone={() => undefined} />);

test("the keys 1 to 4 vote for the first, the second, a tie and two bad answers", async () => {
  waiting.push("p4");
  await opened();
  for (const [index, key] of ["1", "2", "3", "4"].entries()) {
    await screen.findByText(`First of p${index + 1}`);
    press(key);
    await waitFor(() => expect(sent).toHaveLength(index + 1));
  }
  expect(sent).toEqual([
    ["", { verdict: "first", pair: "p1" }],
    ["", { verdict: "second", pair: "p2" }],
    ["", { verdict: "tie", pair: "p3" }],
    ["", { verdict: "tie", both_bad: true, pair: "p4" }],
  ]);
  // Also the vote on the last pair can be undone.
  expect(await screen.findByText("There is no pair.")).toBeTruthy();
  expect(screen.getByRole("button", { name: "Done" })).toBeTruthy();
  press("z");
  expect(await screen.findByText("First of p4")).toBeTruthy();
});

test("between a vote and the next pair nothing is written, because it would belong to neither", async () => {
  ballot = { criteria: ["Clarity"], rubric: { Clarity: { description: "", minimum: 1, maximum: 3 } } };
  await opened();
  await screen.findByText("First of p1");
  let come: () => void = () => undefined;
  late = new Promise<void>((resolve) => {
    come = resolve;
  });
  const why = screen.getByRole<HTMLInputElement>("textbox", { name: /^Why/ });
  const score = screen.getByRole<HTMLSelectElement>("combobox", { name: "Clarity of the first answer" });
  expect([why.readOnly, score.disabled]).toEqual([false, false]);
  press("1");
  await waitFor(() => expect([why.readOnly, score.disabled]).toEqual([true, true]));
  await waitFor(() => expect(screen.getByRole("status").textContent).toContain("1 of 10"));
  expect([why.readOnly, score.disabled]).toEqual([true, true]);
  come();
  await screen.findByText("First of p2");
  expect([why.readOnly, score.disabled, why.value, score.value]).toEqual([false, false, "", ""]);
});

test("who comes back sees the pair that waits then, and not the first one again", async () => {
  function Twice() {
    const [visit, setVisit] = useState(0);
    return (
      <>
        <button onClick={() => setVisit(visit + 1)}>Leave and come back</button>
        <Booth key={visit} run={{ id: "r" } as Run} voter="" onDone={() => undefined} />
      </>
    );
  }
  await renderPage(<Twice />);
  await screen.findByText("First of p1");
  press("1");
  await screen.findByText("First of p2");
  fireEvent.click(screen.getByRole("button", { name: "Leave and come back" }));
  await screen.findByText("First of p2");
  expect(screen.queryByText("First of p1")).toBeNull();
});

test("undo brings the last pair back, and only once", async () => {
  await opened();
  await screen.findByText("First of p1");
  press("z");
  expect(sent).toEqual([]);
  press("1");
  await screen.findByText("First of p2");
  press("Z");
  await screen.findByText("First of p1");
  expect(screen.getByRole("status").textContent).toBe("0 of 10 given now; 2 more pairs after this one");
  press("z");
  press("2");
  await screen.findByText("First of p2");
  expect(screen.getByRole("status").textContent).toBe("1 of 10 given now; one more pair after this one");
  expect(sent.map(([path]) => path)).toEqual(["", "/p1/undo", ""]);
  expect(screen.getByRole<HTMLProgressElement>("progressbar").value).toBe(1);
});

test("a pair that was asked for while a vote was taken back is asked for again", async () => {
  await opened();
  await screen.findByText("First of p1");
  let come: () => void = () => undefined;
  late = new Promise<void>((resolve) => {
    come = resolve;
  });
  press("1");
  await waitFor(() => expect(screen.getByRole("status").textContent).toContain("1 of 10"));
  const answered = fetch;
  vi.stubGlobal("fetch", async (request: Request) => {
    const answer = await answered(request);
    if (request.url.endsWith("/undo")) {
      // The service has taken the vote back, and answers the older question before the app hears of it.
      come();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return answer;
  });
  press("z");
  await waitFor(() => expect(screen.getByRole("status").textContent).toContain("0 of 10"));
  press("2");
  await screen.findByText("First of p2");
});

test("a reason goes with its vote, no key in it votes, and an undone vote has it in the field again", async () => {
  await opened();
  await screen.findByText("First of p1");
  press("w");
  const why = screen.getByRole<HTMLInputElement>("textbox", { name: /^Why/ });
  expect(document.activeElement).toBe(why);
  for (const key of ["1", "2", "3", "4", "z", "w"]) fireEvent.keyDown(why, { key });
  fireEvent.change(why, { target: { value: " 2 dates are wrong " } });
  fireEvent.keyDown(why, { key: "Enter" });
  expect(document.activeElement).toBe(screen.getByRole("group", { name: "Your vote" }));
  expect(sent).toEqual([]);
  press("2");
  await screen.findByText("First of p2");
  expect(why.value).toBe("");
  press("z");
  await screen.findByText("First of p1");
  expect(why.value).toBe(" 2 dates are wrong ");
  fireEvent.change(why, { target: { value: " " } });
  press("1");
  await screen.findByText("First of p2");
  expect(sent).toEqual([
    ["", { verdict: "second", pair: "p1", reason: "2 dates are wrong" }],
    ["/p1/undo", null],
    ["", { verdict: "first", pair: "p1" }],
  ]);
});

test("scores by criteria go with their vote, beside what the criteria mean, and an undone vote has them again", async () => {
  ballot = {
    criteria: ["Clarity", "Price"],
    rubric: {
      Clarity: { description: "Easy to read.", minimum: 1, maximum: 3 },
      Price: { description: "", minimum: 0, maximum: 100 },
    },
  };
  await opened();
  await screen.findByText("First of p1");
  expect(screen.getByRole("rowheader", { name: /^Clarity/ }).textContent).toContain("Easy to read.");
  const clarity = screen.getByRole<HTMLSelectElement>("combobox", { name: "Clarity of the first answer" });
  expect([...clarity.options].map((option) => option.text)).toEqual(["–", "1", "2", "3"]);
  fireEvent.change(clarity, { target: { value: "3" } });
  fireEvent.change(screen.getByRole("spinbutton", { name: "Price of the second answer" }), { target: { value: "80" } });
  press("1");
  await screen.findByText("First of p2");
  expect(clarity.value).toBe("");
  press("z");
  await screen.findByText("First of p1");
  expect(clarity.value).toBe("3");
  fireEvent.change(clarity, { target: { value: "" } });
  press("2");
  await screen.findByText("First of p2");
  expect(sent).toEqual([
    ["", { verdict: "first", pair: "p1", scores: { first: { Clarity: 3 }, second: { Price: 80 } } }],
    ["/p1/undo", null],
    ["", { verdict: "second", pair: "p1", scores: { first: {}, second: { Price: 80 } } }],
  ]);
});

test("an answer that is longer than its frame says that it goes on", async () => {
  const heights = { scrollHeight: 900, clientHeight: 400 };
  for (const [name, value] of Object.entries(heights))
    vi.spyOn(HTMLElement.prototype, name as "scrollHeight", "get").mockReturnValue(value);
  vi.stubGlobal(
    "ResizeObserver",
    class {
      constructor(private readonly told: () => void) {}
      observe() {
        this.told();
      }
      disconnect() {
        return undefined;
      }
    },
  );
  await opened();
  expect(await screen.findAllByRole("button", { name: "It goes on" })).toHaveLength(2);
  const pane = screen.getByRole("group", { name: "The second answer" });
  act(() => {
    pane.scrollTop = 500;
    fireEvent.scroll(pane);
  });
  expect(screen.getAllByRole("button", { name: "It goes on" })).toHaveLength(1);
  vi.restoreAllMocks();
});
