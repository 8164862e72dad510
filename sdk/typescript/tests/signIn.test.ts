import { expect, test } from "vitest";
import { ConnectionLost, data, OtherUser, Workspace } from "../src/index.js";
import { failure, json, problem, type Received, serve, silence, tokenOf } from "./server.js";

const ME = { uuid: "ada", membership: "paid" };
const me = ({ client }: Workspace, signal?: AbortSignal) => data(client.GET("/api/users/me", signal ? { signal } : {}));

/** Takes one token only. */
const takes = (token: string, code = "session-token-expired") =>
  serve((response, request) => {
    (request.token === token ? json(ME) : problem(401, code))(response, request);
  });

test("an ended token is renewed once for all who wait, and their requests are sent again", async () => {
  const { url, received } = await takes("fresh");
  let renewals = 0;
  const workspace = new Workspace({ url, token: "old", renew: () => Promise.resolve(renewals++ ? "again" : "fresh") });
  expect(await Promise.all([me(workspace), me(workspace), me(workspace)])).toEqual([ME, ME, ME]);
  expect(renewals).toBe(1);
  expect(received.filter(({ token }) => token === "fresh")).toHaveLength(3);
  expect(await me(workspace)).toEqual(ME);
  expect(received).toHaveLength(7);
});

test("without a token the first one is fetched", async () => {
  const { url, received } = await takes("fresh");
  expect(await me(new Workspace({ url, renew: () => "fresh" }))).toEqual(ME);
  expect(received).toHaveLength(1);
});

test("a new token that is refused, too, is the end", async () => {
  const { url, received } = await takes("nobody", "session-token-revoked");
  let renewals = 0;
  const error = await failure(me(new Workspace({ url, token: "old", renew: () => `new ${++renewals}` })));
  expect(error).toMatchObject({ status: 401, code: "session-token-revoked" });
  expect(renewals).toBe(1);
  expect(received).toHaveLength(2);
});

test("what the renewal throws comes out as it is, and the next request tries again", async () => {
  const { url, received } = await takes("fresh");
  const locked = new Error("the host asks for the password");
  let tries = 0;
  const renew = () => (++tries < 3 ? Promise.reject(locked) : "fresh");
  const workspace = new Workspace({ url, token: "old", renew });
  expect(await failure(me(workspace))).toBe(locked);
  expect(await failure(me(new Workspace({ url, renew })))).toBe(locked);
  expect(await me(workspace)).toEqual(ME);
  expect(received.map(({ token }) => token)).toEqual(["old", "old", "fresh"]);
});

test("a request is never sent again as another user's, and the first user's next one is", async () => {
  const fresh = tokenOf("ada", 2);
  const { url, received } = await takes(fresh);
  const renewed = [tokenOf("ben"), "no token at all", fresh];
  for (const token of [tokenOf("ada", 1), undefined]) {
    const given = [...(token ? [] : [tokenOf("ada", 1)]), ...renewed];
    const workspace = new Workspace({ url, ...(token ? { token } : {}), renew: () => given.shift() ?? "" });
    const save = () =>
      data(workspace.client.POST("/api/contents", { body: { name: "n", type: "fragment", body: "b" } }));
    expect(await failure(save())).toBeInstanceOf(OtherUser);
    expect(await failure(workspace.runs.events("r").next())).toBeInstanceOf(OtherUser);
    expect(await save()).toEqual(ME);
  }
  expect(new Set(received.map(({ token }) => token))).toEqual(new Set([tokenOf("ada", 1), fresh]));
});

test("a renewal that finds no network is a lost connection", async () => {
  const { url } = await takes("fresh");
  const renew = () => fetch("http://127.0.0.1:9").then(() => "never");
  expect(await failure(me(new Workspace({ url, token: "old", renew })))).toBeInstanceOf(ConnectionLost);
  expect(await failure(me(new Workspace({ url, renew })))).toBeInstanceOf(ConnectionLost);
});

test("an abort ends the wait for a token, and only for the request that was aborted", async () => {
  const { url } = await takes("fresh");
  let give: (token: string) => void = () => undefined;
  const workspace = new Workspace({ url, renew: () => new Promise((resolve) => (give = resolve)) });
  const leaving = new AbortController();
  const left = failure(me(workspace, leaving.signal));
  const other = me(workspace);
  leaving.abort();
  expect(await left).toBe(leaving.signal.reason);
  give("fresh");
  expect(await other).toEqual(ME);
});

test("a refusal that no token mends is not answered with a renewal", async () => {
  const { url } = await serve(problem(403, "scope-missing"));
  const renew = () => Promise.reject(new Error("not needed"));
  expect(await failure(me(new Workspace({ url, token: "t", renew })))).toMatchObject({ code: "scope-missing" });
});

test("a program key is exchanged for a token, and again when the key of the workspace has left memory", async () => {
  let sessions = 0;
  const { url, received } = await serve((response, request: Received) => {
    if (request.path === "/api/auth/program") {
      expect(JSON.parse(request.body)).toEqual({ program_key: "carrel_pk_x" });
      expect(request.token).toBeUndefined();
      json({ session_token: `session ${++sessions}`, expires_in: 3600 })(response, request);
    } else (request.token === "session 2" ? json(ME) : problem(401, "key-not-cached"))(response, request);
  });
  expect(await me(new Workspace({ url, token: "carrel_pk_x" }))).toEqual(ME);
  expect(received.map(({ path }) => path.split("/").at(-1))).toEqual(["program", "me", "program", "me"]);
});

test("a program key that was revoked is an error with its code", async () => {
  const { url, received } = await serve(problem(401, "program-key-invalid"));
  const error = await failure(me(new Workspace({ url, token: "carrel_pk_x" })));
  expect(error).toMatchObject({ status: 401, code: "program-key-invalid" });
  expect(received).toHaveLength(1);
});

test("an abort ends the exchange of a program key", async () => {
  const { url } = await serve(silence);
  const leaving = new AbortController();
  const left = failure(me(new Workspace({ url, token: "carrel_pk_x" }), leaving.signal));
  leaving.abort();
  expect(await left).toBe(leaving.signal.reason);
});
