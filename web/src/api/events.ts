/**
 * Server-sent events over fetch, because the token is a header. Continues where it stopped, and delivers each event
 * once.
 */
import type { Api } from "./client";
import { isAbort } from "./errors";

export interface ServerEvent {
  id: number | undefined;
  event: string;
  data: string;
}

/** Cuts a stream of text into events; `push` takes it in pieces of any size. */
export class EventParser {
  private rest = "";

  push(text: string): ServerEvent[] {
    const blocks = (this.rest + text).split("\n\n");
    this.rest = blocks.pop() ?? "";
    return blocks.map(eventOf).filter((event) => event !== undefined);
  }
}

function eventOf(block: string): ServerEvent | undefined {
  let id: number | undefined;
  let event = "message";
  const lines: string[] = [];
  for (const line of block.split("\n")) {
    const [field, value] = cut(line);
    if (field === "id") id = Number(value);
    else if (field === "event") event = value;
    else if (field === "data") lines.push(value);
  }
  return lines.length ? { id, event, data: lines.join("\n") } : undefined;
}

function cut(line: string): [string, string] {
  const colon = line.indexOf(":");
  if (colon < 0) return [line, ""];
  return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")];
}

export interface Follower {
  /** Events that came together, each once. */
  onEvents: (events: ServerEvent[]) => void;
  onLive: (live: boolean) => void;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

/** Follow the events of a run after `seq` until it ends or `signal` aborts. A broken stream is taken up again. */
export async function follow(
  api: Api,
  runId: string,
  seq: number,
  follower: Follower,
  signal: AbortSignal,
): Promise<void> {
  let last = seq;
  let wait = FIRST_WAIT_MS;
  const take = (events: ServerEvent[]): boolean => {
    const fresh = events.filter((event) => event.id === undefined || event.id > last);
    for (const event of fresh) last = event.id ?? last;
    if (fresh.length) follower.onEvents(fresh);
    return fresh.some((event) => event.event === "end");
  };
  while (!signal.aborted) {
    try {
      if (await stream(api, runId, last, take, () => follower.onLive(true), signal)) return;
      wait = FIRST_WAIT_MS;
    } catch (error) {
      if (isAbort(error)) return;
    }
    follower.onLive(false);
    await pause(wait, signal);
    wait = Math.min(LONGEST_WAIT_MS, wait * 2);
  }
}

/** One connection; true when the run has ended, so that there is nothing more to come. */
async function stream(
  api: Api,
  runId: string,
  last: number,
  take: (events: ServerEvent[]) => boolean,
  onOpen: () => void,
  signal: AbortSignal,
): Promise<boolean> {
  const request = new Request(
    `${api.session.config.baseUrl.replace(/\/+$/, "")}/api/runs/${encodeURIComponent(runId)}/events`,
    {
      headers: { Accept: "text/event-stream", ...(last ? { "Last-Event-ID": `${last}` } : {}) },
      signal,
    },
  );
  const response = await api.send(request);
  if (response.status === 404) return true;
  if (!response.ok || !response.body) throw new Error("no stream");
  onOpen();
  const parser = new EventParser();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return false;
    const events = parser.push(value);
    const ended = take(events.filter((event) => event.event !== "reauthenticate"));
    if (ended) {
      void reader.cancel();
      return true;
    }
    if (events.some((event) => event.event === "reauthenticate")) {
      await api.session.renew(true);
      return false;
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
