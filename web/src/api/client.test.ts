import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ApiError, ConnectionLost, data } from "carrel-sdk";
import { Api } from "./client";
import { Session } from "./session";

const HOST = { baseUrl: "http://service.test/", tokenUrl: "http://host.test/token", unlockUrl: "/unlock" };
const ME = { uuid: "ada", membership: "paid" };

type Handler = (url: string, token: string | null) => Response | Promise<Response>;
let handle: Handler;
let calls: string[];

beforeEach(() => {
  calls = [];
  vi.stubGlobal("fetch", (input: Request | string, init?: RequestInit) => {
    const request = new Request(input, init);
    calls.push(new URL(request.url).pathname);
    return Promise.resolve(handle(request.url, request.headers.get("X-SVC-Session-Token")));
  });
});
afterEach(() => vi.unstubAllGlobals());

function token(name: string, expires: number): string {
  return `${btoa(JSON.stringify({ uuid: name, exp: expires, v: 1 })).replace(/=+$/, "")}.c2lnbmF0dXJl`;
}
const soon = () => Math.floor(Date.now() / 1000) + 3600;
const refused = (code: string) => Response.json({ status: 401, code, detail: code }, { status: 401 });
const me = (api: Api) => data(api.client.GET("/api/users/me"));

test("the token goes out as a header, and nowhere else", async () => {
  const mine = token("ada", soon());
  handle = (url, given) => {
    expect(given).toBe(mine);
    expect(url).not.toContain(mine);
    return Response.json(ME);
  };
  expect(await me(new Api({ ...HOST, sessionToken: mine }))).toEqual(ME);
});

test("an expired token is renewed once for all who wait, and their requests are sent again", async () => {
  const fresh = token("fresh", soon());
  let renewals = 0;
  handle = (url, given) => {
    if (url === HOST.tokenUrl) {
      renewals += 1;
      return Response.json({ session_token: fresh });
    }
    return given === fresh ? Response.json(ME) : refused("session-token-expired");
  };
  const api = new Api({ ...HOST, sessionToken: token("old", 1) });
  expect(await Promise.all([me(api), me(api), me(api)])).toEqual([ME, ME, ME]);
  expect(renewals).toBe(1);
});

test("a request that finds no key waits until the user is back, and then goes on", async () => {
  let isUnlocked = false;
  handle = (url) => {
    if (url === HOST.tokenUrl) return Response.json({ session_token: token("ada", soon()) });
    return isUnlocked ? Response.json(ME) : refused("key-not-cached");
  };
  const api = new Api({ ...HOST, sessionToken: token("ada", soon()) });
  const waiting = me(api);
  await vi.waitFor(() => expect(api.session.state).toBe("locked"));
  expect(await api.tryAgain()).toBe(false);
  isUnlocked = true;
  expect(await api.tryAgain()).toBe(true);
  expect(await waiting).toEqual(ME);
});

test("a host that gives no token ends the session, whatever it answers instead", async () => {
  for (const answer of [
    new Response("<h1>Sign in</h1>"),
    new Response("", { status: 401 }),
    Response.json({ session_token: 7 }),
  ]) {
    handle = (url) => (url === HOST.tokenUrl ? answer : refused("session-token-revoked"));
    const api = new Api({ ...HOST, sessionToken: token("ada", soon()) });
    void me(api);
    await vi.waitFor(() => expect(api.session.state).toBe("ended"));
  }
});

test("a token that is refused although it is new ends the session instead of going round and round", async () => {
  handle = (url) =>
    url === HOST.tokenUrl ? Response.json({ session_token: token("ada", soon()) }) : refused("session-token-revoked");
  const api = new Api({ ...HOST, sessionToken: token("ada", soon()) });
  void me(api);
  await vi.waitFor(() => expect(api.session.state).toBe("ended"));
  expect(calls.length).toBeLessThan(6);
});

test("a refusal becomes an error with its code, its faults and the request's id", async () => {
  handle = () =>
    Response.json(
      {
        status: 400,
        code: "invalid-input",
        detail: "The input breaks a rule; see errors.",
        request_id: "r1",
        errors: [{ path: "name", message: "is required" }],
      },
      { status: 400 },
    );
  const error = await me(new Api({ ...HOST, sessionToken: token("ada", soon()) })).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({
    status: 400,
    code: "invalid-input",
    requestId: "r1",
    faults: [{ path: "name", message: "is required" }],
  });
});

test("no answer at all is a lost connection", async () => {
  handle = () => Promise.reject(new TypeError("network"));
  const api = new Api({ ...HOST, sessionToken: token("ada", soon()) });
  await expect(me(api)).rejects.toBeInstanceOf(ConnectionLost);
  expect(api.connection.isUp).toBe(false);
});

test("a page without a token and without a way to one asks for it", () => {
  expect(new Session({ baseUrl: "http://service.test" }).state).toBe("missing");
  expect(new Session(HOST).state).toBe("open");
});
