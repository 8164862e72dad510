import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { ConnectionLost, type Following, WaitTimeout, Workspace } from "../src/index.js";
import { failure, hangUp, json, problem, serve, silence, withoutWaiting } from "./server.js";

function streamed(response: ServerResponse, text: string, then: "end" | "break" | "stay" = "end"): void {
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  response.write(text, () => {
    if (then === "end") response.end();
    else if (then === "break") response.destroy();
  });
}
const row = (id: number) => `id: ${id}\nevent: task-succeeded\ndata: {"seq":${id}}\n\n`;
const END = 'event: end\ndata: {"state":"completed"}\n\n';
const streaming = (text: string, then?: "end" | "break" | "stay") => (response: ServerResponse) =>
  streamed(response, text, then);

async function eventsOf(workspace: Workspace, following?: Following): Promise<unknown[]> {
  const seen: unknown[] = [];
  for await (const { id, kind } of workspace.runs.events("r", following)) seen.push(id ?? kind);
  return seen;
}

test("the events of a run end with it, and their values are read", async () => {
  const { url, received } = await serve(streaming(`${row(1)}: ping\n\n${row(2)}${END}`, "stay"));
  const events = [];
  for await (const event of new Workspace({ url, token: "t" }).runs.events("a/b")) events.push(event);
  expect(events).toEqual([
    { id: 1, kind: "task-succeeded", value: { seq: 1 } },
    { id: 2, kind: "task-succeeded", value: { seq: 2 } },
    { id: undefined, kind: "end", value: { state: "completed" } },
  ]);
  expect(received[0]).toMatchObject({ path: "/api/runs/a%2Fb/events", token: "t" });
});

test("a broken connection resumes where it stopped, and every event comes once", async () => {
  withoutWaiting(500);
  const { url, received } = await serve(
    streaming(row(1) + row(2) + row(3).slice(0, 20), "break"),
    streaming(row(2) + row(3), "end"),
    problem(503, "service-busy", {}, { "Retry-After": "0" }),
    streaming(row(3) + row(4) + END, "stay"),
  );
  const live: boolean[] = [];
  const workspace = new Workspace({ url, token: "t", maxRetries: 0 });
  expect(await eventsOf(workspace, { onLive: (is) => live.push(is) })).toEqual([1, 2, 3, 4, "end"]);
  expect(received.map(({ headers }) => headers["last-event-id"])).toEqual([undefined, "2", "3", "3"]);
  expect(live).toEqual([true, false, true, false, false, true]);
});

test("what was seen before is left out", async () => {
  const { url, received } = await serve(streaming(row(7) + row(8) + END, "stay"));
  expect(await eventsOf(new Workspace({ url, token: "t" }), { after: 7 })).toEqual([8, "end"]);
  expect(received[0]?.headers["last-event-id"]).toBe("7");
});

test("a connection that fails too often in a row is lost, and one that brings anything starts the count anew", async () => {
  const waits = withoutWaiting(500, 1000);
  const { url, received } = await serve(hangUp, hangUp, streaming(": ping\n\n", "break"), hangUp);
  const workspace = new Workspace({ url, token: "t", maxRetries: 0 });
  expect(await failure(eventsOf(workspace, { maxFailures: 2 }))).toBeInstanceOf(ConnectionLost);
  expect(received).toHaveLength(5);
  expect(waits).toEqual([500, 1000, 500, 1000]);
});

test("a connection over which nothing comes any more is taken up again", async () => {
  withoutWaiting(500);
  const { url, received } = await serve(streaming(row(1), "stay"), streaming(row(2) + END, "stay"));
  expect(await eventsOf(new Workspace({ url, token: "t" }), { silenceSeconds: 0.1 })).toEqual([1, 2, "end"]);
  expect(received).toHaveLength(2);

  const mute = await serve(streaming(": ping\n\n", "stay"), streaming("", "stay"));
  const workspace = new Workspace({ url: mute.url, token: "t" });
  const error = await failure(eventsOf(workspace, { silenceSeconds: 0.1, maxFailures: 1 }));
  expect(error).toBeInstanceOf(ConnectionLost);
});

test("a run that does not exist is an error at once", async () => {
  const { url, received } = await serve(problem(404, "not-found"));
  expect(await failure(eventsOf(new Workspace({ url, token: "t" })))).toMatchObject({ code: "not-found" });
  expect(received).toHaveLength(1);
});

test("an abort ends the events quietly, whatever its reason", async () => {
  for (const reason of [undefined, new Error("the page is gone")]) {
    const { url, received } = await serve(streaming(row(1), "stay"));
    const leaving = new AbortController();
    const seen = [];
    for await (const { id } of new Workspace({ url, token: "t" }).runs.events("r", { signal: leaving.signal })) {
      seen.push(id);
      leaving.abort(reason);
    }
    expect(seen).toEqual([1]);
    expect(received).toHaveLength(1);
  }
});

test("whoever stops reading closes the connection", async () => {
  let closed: () => void = () => undefined;
  const gone = new Promise<void>((resolve) => (closed = resolve));
  const { url } = await serve((response) => {
    response.on("close", closed);
    streamed(response, row(1) + row(2), "stay");
  });
  for await (const { id } of new Workspace({ url, token: "t" }).runs.events("r")) {
    expect(id).toBe(1);
    break;
  }
  await gone;
});

test("a service that asks for a new token in the middle gets it, and the events go on", async () => {
  withoutWaiting(500);
  const { url, received } = await serve(
    streaming(`${row(1)}event: reauthenticate\ndata: {}\n\n`, "stay"),
    streaming(row(2) + END, "stay"),
  );
  const workspace = new Workspace({ url, token: "old", renew: () => "fresh" });
  expect(await eventsOf(workspace)).toEqual([1, 2, "end"]);
  expect(received.map(({ token }) => token)).toEqual(["old", "fresh"]);
});

test("a renewal that fails in the middle ends the events with its error", async () => {
  const { url } = await serve(streaming(`${row(1)}event: reauthenticate\ndata: {}\n\n`, "stay"));
  const locked = new Error("the host asks for the password");
  const workspace = new Workspace({ url, token: "old", renew: () => Promise.reject(locked) });
  expect(await failure(eventsOf(workspace))).toBe(locked);
});

test("waiting returns a run that has ended or paused, and reads it until then", async () => {
  withoutWaiting(100, 150);
  const state = (name: string) => json({ id: "r", state: name });
  const { url, received } = await serve(state("generating"), state("comparing"), state("paused"));
  expect(await new Workspace({ url, token: "t" }).runs.wait("r")).toMatchObject({ state: "paused" });
  expect(received).toHaveLength(3);
});

test("waiting ends with its time, with an abort and with an error", async () => {
  const running = json({ id: "r", state: "comparing" });
  const { url } = await serve(running);
  const workspace = new Workspace({ url, token: "t" });
  expect(await failure(workspace.runs.wait("r", { timeoutSeconds: 0 }))).toBeInstanceOf(WaitTimeout);
  const leaving = new AbortController();
  const left = failure(workspace.runs.wait("r", { signal: leaving.signal }));
  leaving.abort();
  expect(await left).toMatchObject({ name: "AbortError" });
  const lost = await serve(silence);
  const late = new Workspace({ url: lost.url, token: "t", timeoutSeconds: 0.05, maxRetries: 0 });
  expect(await failure(late.runs.wait("r"))).toBeInstanceOf(ConnectionLost);
});
