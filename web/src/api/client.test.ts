import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ApiError, ConnectionLost, data, isAbort } from "carrel-sdk";
import { Api } from "./client";
import { follow } from "./events";
import { Session, type SessionState } from "./session";

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
    return new Promise((resolve, reject) => {
      request.signal.addEventListener("abort", () => reject(request.signal.reason as Error));
      Promise.resolve(handle(request.url, request.headers.get("X-SVC-Session-Token"))).then(resolve, reject);
    });
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
  const fresh = token("ada", soon());
  let renewals = 0;
  handle = (url, given) => {
    if (url === HOST.tokenUrl) {
      renewals += 1;
      return Response.json({ session_token: fresh });
    }
    return given === fresh ? Response.json(ME) : refused("session-token-expired");
  };
  const api = new Api({ ...HOST, sessionToken: token("ada", 1) });
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

const told = (code: string, status = 401) => Response.json({ code }, { status });

test.each<[string, SessionState, () => Response]>([
  ["that nobody is signed in", "signed-out", () => told("signed-out")],
  ["that the password is needed", "locked", () => told("key-not-cached")],
  ["that the account was deleted", "deleted", () => told("account-deleted", 410)],
  ["a page to sign in", "ended", () => new Response("<h1>Sign in</h1>")],
  ["nothing", "ended", () => new Response("", { status: 401 })],
  ["no object", "ended", () => Response.json(null, { status: 401 })],
  ["another code", "ended", () => told("constructor")],
  ["what is no token", "ended", () => Response.json({ session_token: 7 })],
  ["a token that says nothing", "ended", () => Response.json({ session_token: "a.b" })],
])("a host that answers %s leaves the session %s", async (_, state, answer) => {
  for (const code of ["session-token-revoked", "key-not-cached"]) {
    handle = (url) => (url === HOST.tokenUrl ? answer() : refused(code));
    const api = new Api({ ...HOST, sessionToken: token("ada", soon()) });
    const asked = me(api).catch(isAbort);
    await vi.waitFor(() => expect(api.session.state).toBe(state));
    if (state === "deleted") expect(await asked).toBe(true);
  }
});

test.each<[string, SessionState]>([
  ["session-token-expired", "away"],
  ["session-token-revoked", "ended"],
  ["key-not-cached", "locked"],
])(
  "a session that the service ends by %s while the host is away is %s, and stays out of sight",
  async (code, state) => {
    for (const answer of [
      () => told("service-away", 503),
      () => told("", 429),
      () => Promise.reject<Response>(new TypeError("network")),
    ]) {
      let isThere = false;
      handle = (url) => {
        if (url !== HOST.tokenUrl) return refused(code);
        return isThere ? told("signed-out") : answer();
      };
      const api = new Api({ ...HOST, sessionToken: token("ada", soon()) });
      void me(api);
      await vi.waitFor(() => expect(api.session.state).toBe(state));
      isThere = true;
      await api.look();
      expect(api.session.state).toBe("signed-out");
      isThere = false;
      await api.look();
      expect(api.session.state).toBe("signed-out");
    }
  },
);

test("while the host cannot be reached a token works as long as it lasts, and then requests wait", async () => {
  let isUp = false;
  let fresh = token("ada", soon() - 3570);
  handle = (url, given) => {
    if (url !== HOST.tokenUrl) return given === fresh ? Response.json(ME) : refused("session-token-expired");
    return isUp ? Response.json({ session_token: fresh }) : Promise.reject(new TypeError("network"));
  };
  const api = new Api({ ...HOST, sessionToken: fresh });
  expect(await me(api)).toEqual(ME);
  fresh = token("ada", soon());
  const waiting = me(api);
  await vi.waitFor(() => expect(api.session.state).toBe("away"));
  expect(api.connection.isUp).toBe(true);
  await api.look();
  expect(api.session.state).toBe("away");
  isUp = true;
  await api.look();
  expect(await waiting).toEqual(ME);
});

test("nothing is ever sent with another user's token, and what waited is given up", async () => {
  const mine = token("ada", soon());
  let signedIn: string | undefined;
  handle = (url, given) => {
    if (url !== HOST.tokenUrl) {
      expect(given).toBe(mine);
      return refused("session-token-revoked");
    }
    if (!signedIn) return told("signed-out");
    return Response.json({ session_token: token(signedIn, soon()), user_name: `${signedIn}@example.org` });
  };
  const api = new Api({ ...HOST, sessionToken: mine });
  const waiting = [
    data(api.client.POST("/api/contents", { body: { name: "n", type: "fragment", body: "b" } })),
    api.raw("/api/users/me/export", "application/zip"),
  ].map((work) => work.then(() => false, isAbort));
  const stream = follow(
    api,
    "r",
    0,
    { onEvents: () => undefined, onLive: () => undefined },
    new AbortController().signal,
  );
  await vi.waitFor(() => expect(api.session.state).toBe("signed-out"));
  signedIn = "ben";
  expect(await api.tryAgain()).toBe(false);
  expect(api.session.shown).toEqual({ state: "other", user: { uuid: "ben", name: "ben@example.org" } });
  expect(await Promise.all(waiting)).toEqual([true, true]);
  await stream;
  for (const late of [me(api), api.upload({ path: "/api/documents", body: new FormData() })])
    expect(await late.catch(isAbort)).toBe(true);
  // Not even the first user's own token opens the page again, which has forgotten what it had.
  signedIn = "ada";
  await api.look();
  expect(api.session.shown).toEqual({ state: "other", user: { uuid: "ada", name: "ada@example.org" } });
  expect(api.session.accept(mine)).toBe(true);
  expect(api.session.state).toBe("other");
});

test("a request that is under way when another user signs in is cut off", async () => {
  handle = (url) =>
    url === HOST.tokenUrl ? Response.json({ session_token: token("ben", soon()) }) : new Promise(() => undefined);
  const api = new Api({ ...HOST, sessionToken: token("ada", soon()) });
  const asked = me(api).catch(isAbort);
  await vi.waitFor(() => expect(calls).toHaveLength(1));
  await api.look();
  expect(await asked).toBe(true);
});

test("a look at a session that works leaves no answer unread, which would keep its connection", async () => {
  const mine = token("ada", soon());
  const answers: Response[] = [];
  handle = (url) => {
    answers.push(Response.json(url === HOST.tokenUrl ? { session_token: mine } : ME));
    return answers.at(-1) ?? Response.error();
  };
  const api = new Api({ ...HOST, sessionToken: mine });
  await api.look();
  expect(answers.map(({ bodyUsed }) => bodyUsed)).toEqual([true, true]);
});

test("who comes back to the page finds out that the session has ended elsewhere", async () => {
  const mine = token("ada", soon());
  let isFirst = true;
  handle = (url) => {
    if (url !== HOST.tokenUrl) return refused("key-not-cached");
    if (!isFirst) return told("key-not-cached");
    isFirst = false;
    return Response.json({ session_token: mine });
  };
  const api = new Api({ ...HOST, sessionToken: mine });
  await api.look();
  expect(api.session.state).toBe("locked");
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
