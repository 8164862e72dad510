/** A conversation is shown by its turns, wherever a document is. */
import { cleanup, render, screen, within } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { DocumentText } from "./DocumentText";

afterEach(cleanup);

test("a conversation has its turns with who speaks, and what judges read behind them", () => {
  render(
    <DocumentText
      text={"user: Where?\n\nassistant: Here.\n\nuser: When?"}
      turns={[
        { role: "user", content: "Where?" },
        { role: "assistant", content: "Here." },
        { role: "user", content: "When?" },
      ]}
    />,
  );
  const turns = within(screen.getByRole("group", { name: "The conversation" })).getAllByRole("listitem");
  expect(turns.map((turn) => turn.textContent)).toEqual(["UserWhere?", "AssistantHere.", "UserWhen?"]);
  expect(screen.getByText("As judges read it")).toBeTruthy();
});

test.each([[null], [undefined], [[]]])("a document without turns (%j) is its text", (turns) => {
  render(<DocumentText text="A letter." turns={turns} />);
  expect(screen.getByRole("group", { name: "The document" }).textContent).toBe("A letter.");
  expect(screen.queryByRole("list")).toBeNull();
});
