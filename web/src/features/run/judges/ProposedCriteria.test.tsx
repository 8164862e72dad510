import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import type { CriteriaProposal, Run } from "../../../api/types";
import { renderPage } from "../../../testing/renderPage";
import { ProposedCriteria } from "./ProposedCriteria";

const criterion = { name: "clarity", description: "Can be understood.", weight: "3", minimum: "1", maximum: "5" };
const FOUND: CriteriaProposal = {
  proposals: [
    {
      ...{ criterion, votes: 4, notes: 1 },
      quotes: [
        { kind: "vote", document: 2, text: "Clearer." },
        { kind: "note", document: 3, text: "Not clear at all." },
      ],
    },
  ],
  ...{ least: 2, votes: 9, notes: 2, rare: ["tone"] },
  ...{ unrecognised: 5, unrecognised_quotes: [{ kind: "vote", document: 1, text: "Hm." }] },
};

const asked: string[] = [];

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

async function shown(found: CriteriaProposal, hasVotes = true) {
  vi.stubGlobal("fetch", (request: Request) => {
    asked.push(request.url);
    return Promise.resolve(Response.json(found));
  });
  return renderPage(<ProposedCriteria run={{ id: "r" } as Run} hasVotes={hasVotes} />);
}

test("a proposal has its evidence, and a link to the form of criteria", async () => {
  const page = await shown(FOUND);
  await screen.findByText("“Clearer.”", { exact: false });
  const { textContent } = page;
  expect(textContent).toContain("From the reasons of 9 votes and 2 notes on answers, by a table of words.");
  expect(textContent).toContain("clarity 4 votes, 1 note; weight 3, scale 1 to 5");
  expect(textContent).toContain("“Not clear at all.” a note on document 3");
  expect(textContent).toContain("Asked for by too few to be proposed: tone.");
  expect(textContent).toContain("Not recognised5 of 11");
  const link = screen.getByText<HTMLAnchorElement>("Use as criteria");
  expect(link.href).toMatch(/\/library\/new\?type=criteria&votes=r$/);
});

test("from half of the documents, it is asked for and opened so", async () => {
  await shown(FOUND);
  fireEvent.click(await screen.findByRole("checkbox", { name: /^From half of the documents/ }));
  await waitFor(() => expect(asked.at(-1)).toMatch(/criteria-proposal\?half=true$/));
  const link = screen.getByText<HTMLAnchorElement>("Use as criteria");
  expect(link.href).toMatch(/\/library\/new\?type=criteria&votes=r&half=yes$/);
});

test("too few reasons are told, with how many it takes", async () => {
  await shown({ ...FOUND, proposals: [], votes: 0, notes: 0, rare: [], unrecognised: 0, unrecognised_quotes: [] });
  expect(await screen.findByText(/at least 2 votes or notes have to ask for the same/)).toBeTruthy();
  expect(screen.getByText("No vote has a reason yet, and no answer a note.")).toBeTruthy();
  expect(screen.queryByText("Use as criteria")).toBeNull();
});

test("without votes it is there only for notes", async () => {
  const nothing = { ...FOUND, votes: 0, notes: 0, proposals: [] };
  expect((await shown(nothing, false)).textContent).toBe("");
  cleanup();
  await shown({ ...FOUND, votes: 0, notes: 1 }, false);
  expect(await screen.findByText(/^From one note on an answer/)).toBeTruthy();
});
