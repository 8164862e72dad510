import { expect, test, vi } from "vitest";
import { ApiError, ConnectionLost, data, faultsAt, ifMatch, isOutdated, tagged, Workspace } from "../src/index.js";
import { failure, hangUp, json, problem, serve, silence, withoutWaiting } from "./server.js";

const ME = { uuid: "ada", membership: "paid" };
const busy = problem(503, "service-busy");
const me = ({ client }: Workspace, signal?: AbortSignal) => data(client.GET("/api/users/me", signal ? { signal } : {}));

test("a read is sent again when the network breaks and when the service is busy", async () => {
  const waits = withoutWaiting(200, 800);
  const { url, received } = await serve(hangUp, busy, json(ME));
  expect(await me(new Workspace({ url, token: "t" }))).toEqual(ME);
  expect(received.map(({ token }) => token)).toEqual(["t", "t", "t"]);
  expect(waits).toEqual([200, 800]);
});

test("after the last retry the error says what happened", async () => {
  withoutWaiting(200, 800);
  const { url, received } = await serve(busy);
  const error = await failure(me(new Workspace({ url, token: "t" })));
  expect(error).toMatchObject({ name: "ApiError", status: 503, code: "service-busy", isPassing: true });
  expect(received).toHaveLength(3);

  const gone = await serve(hangUp);
  expect(await failure(me(new Workspace({ url: gone.url, token: "t", maxRetries: 1 })))).toBeInstanceOf(ConnectionLost);
  expect(gone.received).toHaveLength(2);
});

test("a change is sent once, unless it carries an Idempotency-Key, and then with the same body", async () => {
  withoutWaiting(200);
  const { url, received } = await serve(hangUp);
  const body = { name: "n", type: "fragment" as const, body: "b" };
  const workspace = new Workspace({ url, token: "t" });
  expect(await failure(data(workspace.client.POST("/api/contents", { body })))).toBeInstanceOf(ConnectionLost);
  expect(received).toHaveLength(1);

  const again = await serve(hangUp, json({ id: "c" }, 201));
  const { client } = new Workspace({ url: again.url, token: "t" });
  const headers = { "Idempotency-Key": "k" };
  expect(await data(client.POST("/api/contents", { body, headers }))).toEqual({ id: "c" });
  expect(again.received.map((one) => JSON.parse(one.body) as unknown)).toEqual([body, body]);
  expect(again.received.map((one) => one.headers["idempotency-key"])).toEqual(["k", "k"]);
});

test.each([
  ["7", 7000],
  ["60", 10_000],
  ["Wed, 21 Oct 2026 07:28:00 GMT", 200],
])("Retry-After: %s makes the client wait for %i milliseconds", async (header, ms) => {
  const waits = withoutWaiting(200, 7000, 10_000);
  const { url } = await serve(problem(429, "too-many-requests", {}, { "Retry-After": header }), json(ME));
  expect(await me(new Workspace({ url, token: "t" }))).toEqual(ME);
  expect(waits).toEqual([ms]);
});

test("a service that does not begin its answer in time is a lost connection", async () => {
  const { url } = await serve(silence);
  const error = await failure(me(new Workspace({ url, token: "t", timeoutSeconds: 0.05, maxRetries: 0 })));
  expect(error).toBeInstanceOf(ConnectionLost);
});

test("a time-out that is longer than timers can count never fires", async () => {
  const { url } = await serve(json(ME));
  const limit = vi.spyOn(globalThis, "setTimeout");
  expect(await me(new Workspace({ url, token: "t", timeoutSeconds: 10_000_000 }))).toEqual(ME);
  expect(limit.mock.calls.filter(([, ms = 0]) => ms > 2 ** 31)).toEqual([]);
  limit.mockRestore();
});

test("an answer that breaks off in the middle is a lost connection", async () => {
  const { url } = await serve((response) => {
    response.writeHead(200, { "Content-Type": "application/json", "Content-Length": "1000" });
    response.write('{"uuid":', () => response.destroy());
  });
  expect(await failure(me(new Workspace({ url, token: "t" })))).toBeInstanceOf(ConnectionLost);
});

test("an answer that is no JSON although it says so is unreadable", async () => {
  const { url } = await serve((response) => {
    response.writeHead(200, { "Content-Type": "application/json", "X-Request-ID": "r" }).end("<html>");
  });
  const error = await failure(me(new Workspace({ url, token: "t" })));
  expect(error).toMatchObject({ name: "ApiError", status: 200, code: "unreadable-answer", requestId: "r" });
});

test.each([
  ["without a reason", undefined, "AbortError"],
  ["with a reason of its own", new Error("the page is gone"), "Error"],
  ["by a time-out of its own", new DOMException("late", "TimeoutError"), "TimeoutError"],
])("an abort %s ends the request with that reason, and it is not sent again", async (_, reason, name) => {
  const leaving = new AbortController();
  const { url, received } = await serve(() => leaving.abort(reason));
  const onSilence = vi.fn();
  const error = await failure(me(new Workspace({ url, token: "t", onSilence }), leaving.signal));
  expect(error).toMatchObject({ name });
  expect(error).toBe(leaving.signal.reason);
  expect(received).toHaveLength(1);
  expect(onSilence).not.toHaveBeenCalled();
});

test("an abort ends the wait between two attempts", async () => {
  const leaving = new AbortController();
  const { url, received } = await serve((response, request) => {
    problem(503, "service-busy", {}, { "Retry-After": "10" })(response, request);
    response.on("close", () => leaving.abort());
  });
  expect(await failure(me(new Workspace({ url, token: "t" }), leaving.signal))).toMatchObject({ name: "AbortError" });
  expect(received).toHaveLength(1);
});

test("a refusal is an error with its code, its fields and the request's id", async () => {
  const errors = [
    { path: "inputs[3].text", message: "is empty" },
    { path: "name", message: "is required" },
  ];
  const { url, received } = await serve(problem(400, "invalid-input", { errors, request_id: "r1" }));
  const error = await failure(me(new Workspace({ url, token: "t" })));
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ status: 400, code: "invalid-input", message: "It is invalid-input.", requestId: "r1" });
  expect(faultsAt(error, "name")).toEqual(["is required"]);
  expect(faultsAt(error, "inputs")).toEqual(["is empty"]);
  expect(received).toHaveLength(1);
});

test("an error that is none of Carrel's has a code, too", async () => {
  const { url } = await serve((response) => void response.writeHead(404, { "Content-Type": "text/html" }).end("<p>"));
  expect(await failure(me(new Workspace({ url, token: "t" })))).toMatchObject({
    status: 404,
    code: "unreadable-answer",
  });
});

test("an edit sends back the version that was read, and hears of another's", async () => {
  const { url, received } = await serve(json({ id: "p" }, 200, { ETag: '"4"' }), problem(412, "version-outdated"));
  const { client } = new Workspace({ url, token: "t" });
  const params = { path: { preset_id: "a/b" } };
  const { etag } = await tagged(client.GET("/api/presets/{preset_id}", { params }));
  const body = { name: "new" } as never;
  const outdated = await failure(
    data(client.PUT("/api/presets/{preset_id}", { params, body, headers: ifMatch(etag) })),
  );
  expect(isOutdated(outdated)).toBe(true);
  expect(received.map(({ path }) => path)).toEqual(["/api/presets/a%2Fb", "/api/presets/a%2Fb"]);
  expect(received[1]?.headers["if-match"]).toBe('"4"');
});

test("a redirect is not followed, because it would carry the token elsewhere", async () => {
  const elsewhere = await serve(json(ME));
  const { url } = await serve((response) => void response.writeHead(307, { Location: elsewhere.url }).end());
  expect(await failure(me(new Workspace({ url, token: "t", maxRetries: 0 })))).toBeInstanceOf(ConnectionLost);
  expect(elsewhere.received).toEqual([]);
});

test("values of a query are sent one by one, and those that are not given are left out", async () => {
  const { url, received } = await serve(json({ items: [], next_cursor: null }));
  const { client } = new Workspace({ url: `${url}/`, token: "t" });
  await data(client.GET("/api/contents", { params: { query: { q: "ä & b", limit: 5, cursor: undefined } } }));
  expect(received[0]?.path).toBe("/api/contents?q=%C3%A4+%26+b&limit=5");
});
