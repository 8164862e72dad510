/**
 * Server-sent events over fetch, because the token is a header. Continues where it stopped, and delivers each event
 * once.
 */
import { ApiError, ConnectionLost, failureOf, isBroken } from "./errors.js";
import { pause, type SignIn, type Transport } from "./transport.js";

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

export interface Following {
  /** Leave out the events up to this id. */
  after?: number;
  signal?: AbortSignal;
  /** Told when a connection begins to bring events, and when it breaks. */
  onLive?: (live: boolean) => void;
  /** How many connections in a row may fail before anything came; the next failure is thrown. */
  maxFailures?: number;
  /** A connection over which nothing came for so long is broken. The service sends something every 15 seconds. */
  silenceSeconds?: number;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;
const MAX_FAILURES = 6;
const SILENCE_SECONDS = 60;

/** The events of a stream in the groups in which they came, until it ends or `signal` aborts. A broken one resumes. */
export async function* follow(
  transport: Transport,
  signIn: SignIn,
  path: string,
  following: Following = {},
): AsyncGenerator<ServerEvent[], void, undefined> {
  const { signal, onLive, maxFailures = MAX_FAILURES, silenceSeconds = SILENCE_SECONDS } = following;
  let last = following.after ?? 0;
  let failures = 0;
  while (!signal?.aborted) {
    try {
      const headers = { Accept: "text/event-stream", ...(last ? { "Last-Event-ID": `${last}` } : {}) };
      const request = new Request(transport.base + path, { headers, ...(signal ? { signal } : {}) });
      const response = await transport.send(request, signIn);
      if (!response.ok) throw await failureOf(response);
      onLive?.(true);
      for await (const events of eventsIn(response, silenceSeconds * 1000)) {
        failures = 0;
        const fresh = events.filter(({ id, event }) => event !== "reauthenticate" && (id === undefined || id > last));
        for (const { id } of fresh) last = id ?? last;
        if (fresh.length) yield fresh;
        if (fresh.some(({ event }) => event === "end")) return;
        if (events.some(({ event }) => event === "reauthenticate")) {
          await signIn.renew();
          break;
        }
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (!isBroken(error) && !mayPass(error)) throw error;
      if (failures >= maxFailures) throw error instanceof TypeError ? new ConnectionLost(error) : error;
    }
    onLive?.(false);
    await pause(Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** failures), signal);
    failures += 1;
  }
}

function mayPass(error: unknown): boolean {
  return error instanceof ApiError && (error.status >= 500 || error.isPassing);
}

/** The events of one connection, an empty list for what is none; leaving the loop closes it. */
async function* eventsIn(response: Response, silenceMs: number): AsyncGenerator<ServerEvent[], void, undefined> {
  const parser = new EventParser();
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  if (!reader) return;
  try {
    for (;;) {
      const silent = new AbortController();
      const timer = setTimeout(() => {
        silent.abort(new ConnectionLost("nothing came in time"));
        reader.cancel().catch(() => undefined);
      }, silenceMs);
      const { done, value } = await reader.read().finally(() => clearTimeout(timer));
      silent.signal.throwIfAborted();
      if (done) return;
      yield parser.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}
