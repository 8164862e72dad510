/** Sends requests: with the session token, within a time, and again where that is safe. */
import { type ApiError, ConnectionLost, errorOf, isBroken } from "./errors.js";

export const TOKEN_HEADER = "X-SVC-Session-Token";
const FIRST_WAIT_MS = 200;
const WAIT_FACTOR = 4;
const LONGEST_WAIT_MS = 10_000;
/** Timers of browsers and Node fire at once when they are set to more. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** The service refused a request for want of a session. */
export interface Refusal {
  error: ApiError;
  token: string | undefined;
  /** How often this request was refused before. */
  before: number;
  signal: AbortSignal | undefined;
}

/** Where session tokens come from. */
export interface SignIn {
  token(signal?: AbortSignal): Promise<string | undefined>;
  /** Whether the refused request shall be sent again, with another token. */
  refused(refusal: Refusal): Promise<boolean>;
  /** The service asks for a new token in the middle of a stream. */
  renew(): Promise<unknown>;
}

export interface TransportOptions {
  /** The address of the service, without `/api`. HTTPS, except to this machine. */
  url: string;
  /** How long the service may take to begin its answer; `Infinity` for no limit. */
  timeoutSeconds?: number;
  /** How often a read, or a request with an Idempotency-Key, is sent again. */
  maxRetries?: number;
  allowHttp?: boolean;
  /** Told of every answer, whatever it says, and of every request that got none. */
  onAnswer?: () => void;
  onSilence?: () => void;
}

export class Transport {
  readonly base: string;
  private readonly timeoutMs: number;
  private readonly maxRetries: number;

  constructor(private readonly options: TransportOptions) {
    const { url, timeoutSeconds = 30, maxRetries = 2, allowHttp = false } = options;
    if (!allowHttp && !isSafe(url)) {
      throw new TypeError("url must be https:// (plain http:// only to this machine, or with allowHttp)");
    }
    if (!(timeoutSeconds > 0) || maxRetries < 0) {
      throw new RangeError("timeoutSeconds must be more than 0 and maxRetries at least 0");
    }
    this.base = url.replace(/\/+$/, "");
    this.timeoutMs = timeoutSeconds * 1000;
    this.maxRetries = maxRetries;
  }

  /** The answer to a request that needs a session. It had no effect while it was refused, so it is sent again. */
  send(request: Request, signIn: SignIn): Promise<Response> {
    return this.inSession((token) => this.deliver(request, token), signIn, request.signal);
  }

  /** The same for a request that something else sends, such as an upload that tells how much of it is on its way. */
  async inSession(
    send: (token: string | undefined) => Promise<Response>,
    signIn: SignIn,
    signal?: AbortSignal,
  ): Promise<Response> {
    for (let before = 0; ; before++) {
      const token = await this.heard(() => unlessAborted(signIn.token(signal), signal));
      const response = await this.heard(() => send(token));
      if (response.status !== 401) return response;
      const error = await errorOf(response);
      const isSentAgain = signIn.refused({ error, token, before, signal });
      if (!(await this.heard(() => unlessAborted(isSentAgain, signal)))) return response;
    }
  }

  /** Send, again if that is safe, and return what came back. */
  async deliver(request: Request, token?: string, isRepeatable = hasOneEffect(request)): Promise<Response> {
    for (let attempt = 0; ; attempt++) {
      const isLast = attempt >= this.maxRetries || !isRepeatable;
      let wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * WAIT_FACTOR ** attempt);
      try {
        const response = await this.heard(() => this.fetchOnce(request, token));
        if (isLast || (response.status !== 429 && response.status !== 503)) return response;
        const { retryAfterSeconds = 0 } = await errorOf(response);
        wait = Math.min(LONGEST_WAIT_MS, Math.max(wait, retryAfterSeconds * 1000));
      } catch (error) {
        if (isLast || request.signal.aborted || !(error instanceof ConnectionLost)) throw error;
      }
      await pause(wait, request.signal);
      request.signal.throwIfAborted();
    }
  }

  /** What `ask` brings. What the network breaks is a ConnectionLost; all other errors come out as they are. */
  private async heard<T>(ask: () => Promise<T>): Promise<T> {
    try {
      const got = await ask();
      if (got instanceof Response) this.options.onAnswer?.();
      return got;
    } catch (error) {
      if (!isBroken(error)) throw error;
      this.options.onSilence?.();
      throw error instanceof ConnectionLost ? error : new ConnectionLost(error);
    }
  }

  private async fetchOnce(request: Request, token: string | undefined): Promise<Response> {
    const copy = request.clone();
    if (token) copy.headers.set(TOKEN_HEADER, token);
    // Redirects would carry the token elsewhere.
    const init: RequestInit = { credentials: "omit", cache: "no-store", redirect: "error" };
    if (this.timeoutMs > LONGEST_TIMER_MS) return fetch(copy, init);
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new ConnectionLost("no answer in time")), this.timeoutMs);
    try {
      return await fetch(copy, { ...init, signal: AbortSignal.any([request.signal, late.signal]) });
    } finally {
      clearTimeout(timer);
    }
  }
}

/** What `promise` brings; as soon as `signal` aborts, its reason is thrown. The promise itself goes on for others. */
async function unlessAborted<T>(promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (!signal) return promise;
  const listening = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    const leave = () => reject(signal.reason as Error);
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { signal: listening.signal });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    listening.abort();
  }
}

/** Resolves after `ms`, or as soon as `signal` aborts. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end);
  });
}

/** Sending it twice has the effect of sending it once. */
function hasOneEffect({ method, headers }: Request): boolean {
  return method === "GET" || headers.has("Idempotency-Key");
}

function isSafe(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === "https:" || (protocol === "http:" && LOOPBACK.test(hostname));
}
