/** What is said while the workspace is not to be seen, in each situation that leads there. */
import { act, cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { data } from "carrel-sdk";
import type { HostConfig } from "../api/session";
import { renderPage, tokenOf } from "../testing/renderPage";
import { useApi } from "./context";
import { SessionDialog } from "./SessionDialog";
import { Shell } from "./Shell";
import { tailOf } from "./UserName";

const HOST: Partial<HostConfig> = { tokenUrl: "http://host.test/token", unlockUrl: "http://host.test/unlock" };
const refused = (code: string) => Response.json({ status: 401, code, detail: code }, { status: 401 });

let service: () => Response;
let host: () => Response | Promise<Response>;
beforeEach(() => {
  vi.stubGlobal("fetch", (input: Request | string) =>
    Promise.resolve(typeof input === "string" && input === HOST.tokenUrl ? host() : service()),
  );
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function Asking() {
  const { client } = useApi();
  return <button onClick={() => void data(client.GET("/api/users/me")).catch(() => undefined)}>Ask</button>;
}

/** All that the dialog says after a request was refused. */
async function said(config: Partial<HostConfig> = HOST): Promise<string> {
  await renderPage(
    <>
      <Asking />
      <SessionDialog />
    </>,
    config,
  );
  act(() => screen.getByText("Ask").click());
  return (await screen.findByRole("alertdialog")).textContent;
}

const link = (name: string) => screen.queryByRole("link", { name })?.getAttribute("href");
const KEPT = "It comes back when the same user is back";
const FORGOTTEN = "forgotten what it showed";

test("after a restart the password is asked for", async () => {
  service = () => refused("key-not-cached");
  host = () => refused("key-not-cached");
  const text = await said();
  expect(text).toContain("Your workspace is locked, and your password opens it.");
  expect(text).toContain(KEPT);
  expect(link("Enter your password")).toBe(HOST.unlockUrl);
});

test("who signed out in another tab is told what the website says", async () => {
  service = () => refused("key-not-cached");
  host = () => refused("signed-out");
  const text = await said();
  expect(text).toContain("nobody is signed in there any more in this browser");
  expect(text).not.toContain("restart");
  expect(text).toContain(KEPT);
  expect(link("Sign in")).toBe(HOST.unlockUrl);
});

test("a website that does not say why leaves it open", async () => {
  service = () => refused("session-token-revoked");
  host = () => new Response("", { status: 401 });
  const text = await said();
  expect(text).toContain("You may be signed out there, or your password may be needed.");
  expect(text).not.toContain("restart");
});

test("a page without a website says when sessions end, and takes another token of the same user only", async () => {
  service = () => refused("session-token-expired");
  const text = await said({});
  expect(text).toContain("A session lasts an hour at most, and signing out ends it earlier.");
  expect(text).not.toContain("asks every few seconds");
  const enter = (token: string) => {
    fireEvent.change(screen.getByLabelText("Session token"), { target: { value: token } });
    fireEvent.click(screen.getByRole("button", { name: "Open the workspace" }));
  };
  enter("no token");
  expect(screen.getByText("That is no session token.")).toBeTruthy();
  enter(tokenOf("ben"));
  expect(screen.getByText(/not of the user of this page/)).toBeTruthy();
  service = () => Response.json({});
  enter(tokenOf("ada"));
  await waitFor(() => expect(screen.queryByRole("alertdialog")).toBeNull());
});

test("a deleted account is called deleted, and nothing is said to come back", async () => {
  service = () => refused("key-not-cached");
  host = () => refused("account-deleted");
  const text = await said();
  expect(text).toContain("This account was deleted");
  expect(text).toContain(FORGOTTEN);
  expect(text).not.toContain(KEPT);
  expect(link("Enter your password")).toBeUndefined();
});

test.each([
  ["ben@example.org", "ben@example.org is signed in now"],
  [undefined, "…2f5d8e71 is signed in now"],
])("another user is named as %s", async (user_name, words) => {
  service = () => refused("session-token-revoked");
  host = () => Response.json({ session_token: tokenOf("0a3f7c11-52b1-4c5e-9d0e-6b7a2f5d8e71"), user_name });
  const text = await said();
  expect(text).toContain(words);
  expect(text).toContain(FORGOTTEN);
  expect(text).not.toContain(KEPT);
  expect(screen.getByRole("button", { name: `Go on as ${words.split(" ")[0] ?? ""}` })).toBeTruthy();
});

test("while the website cannot be reached the page stays, and says so", async () => {
  service = () => refused("session-token-expired");
  host = () => Promise.reject(new TypeError("network"));
  await renderPage(
    <>
      <Asking />
      <Shell />
      <SessionDialog />
    </>,
    HOST,
  );
  act(() => screen.getByText("Ask").click());
  expect((await screen.findByRole("alert")).textContent).toContain("cannot renew the session of this page right now");
  expect(screen.queryByRole("alertdialog")).toBeNull();
});

test("the page says who is signed in: by the name that the host gives, else by the end of the uuid", async () => {
  service = () => Response.json({});
  await renderPage(<Shell />, { userName: "ada@example.org" });
  expect(screen.getByRole("complementary").textContent).toContain("Signed in as ada@example.org");
  cleanup();
  await renderPage(<Shell />, { sessionToken: tokenOf("0a3f7c11-52b1-4c5e-9d0e-6b7a2f5d8e71") });
  expect(screen.getByRole("complementary").textContent).toContain("Signed in as …2f5d8e71");
  expect([tailOf("ada-lovelace-1815"), tailOf("adalove"), tailOf("a"), tailOf("")]).toEqual([
    "ace-1815",
    "ove",
    "",
    "",
  ]);
});
