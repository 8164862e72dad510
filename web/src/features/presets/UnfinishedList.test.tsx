import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { renderPage } from "../../testing/renderPage";
import { UnfinishedList } from "./UnfinishedList";

const AT = "2026-11-28T02:00:00.000Z";
const summary = (id: string, form: string) => ({ id, name: `Draft ${id}`, form, preset_id: null, updated_at: AT });
const PROMPTS = [{ text: "", contentId: "own" }, { text: "", contentId: "shared", isShared: true }, { text: "" }];

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test("unfinished set-ups are counted and cleared in one action, with the prompts that were kept for them alone", async () => {
  let items = [summary("a", "comparison"), summary("b", "comparison"), summary("c", "preset")];
  const deleted: string[] = [];
  vi.stubGlobal("fetch", (request: Request) => {
    const [kind, id] = new URL(request.url).pathname.split("/").slice(2);
    if (request.method === "DELETE") {
      deleted.push(`${kind} ${id}`);
      items = items.filter((one) => one.id !== id);
      // What somebody uses stays, and that is no fault.
      return Promise.resolve(
        kind === "contents"
          ? Response.json({ code: "content-in-use", detail: "In use." }, { status: 409 })
          : new Response(null, { status: 204 }),
      );
    }
    const body = { prompts: id === "a" ? PROMPTS : [] };
    const found = items.find((one) => one.id === id);
    return Promise.resolve(Response.json(id ? { ...found, body } : { items }));
  });
  await renderPage(<UnfinishedList words="" />);
  expect(await screen.findByText("3 are unfinished.")).toBeTruthy();
  fireEvent.click(screen.getByRole("button", { name: "Delete all 3" }));
  const asked = screen.getByRole("alertdialog", { name: "Delete 3 drafts?" });
  fireEvent.click(within(asked).getByRole("button", { name: "Delete" }));
  await waitFor(() => expect(screen.queryByRole("list", { name: "Unfinished" })).toBeNull());
  expect(deleted.sort()).toEqual(["contents own", "preset-drafts a", "preset-drafts b", "preset-drafts c"]);
});
