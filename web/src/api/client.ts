/**
 * The app's session with the service: the client of `sdk/typescript`, with requests that wait while the session is
 * renewed, and are given up when the page's user is no longer the one who is signed in.
 */
import {
  type Client,
  clientOf,
  errorOf,
  failureOf,
  isAbort,
  isBroken,
  type Refusal,
  RENEWABLE_CODES,
  type SignIn,
  TOKEN_HEADER,
  Transport,
} from "carrel-sdk";
import { Connection } from "./connection";
import { type HostConfig, Session } from "./session";
import { type Upload, upload } from "./upload";

export class Api implements SignIn {
  readonly session: Session;
  readonly connection: Connection;
  readonly client: Client;
  readonly transport: Transport;
  private recovering: Promise<void> | undefined;

  constructor(config: HostConfig) {
    this.session = new Session(config);
    this.transport = new Transport({
      url: config.baseUrl,
      // The host chose the address. Queries are sent again by their cache, and the user sees what takes long.
      allowHttp: true,
      timeoutSeconds: Infinity,
      maxRetries: 0,
      onAnswer: () => this.connection.succeeded(),
      onSilence: () => this.connection.failed(),
    });
    this.connection = new Connection(`${this.transport.base}/api/health`);
    this.client = clientOf(this.transport.base, (request) => this.send(request));
  }

  /** A GET of something that is not JSON, such as a report or a zip. */
  async raw(path: string, accept: string, signal?: AbortSignal): Promise<Response> {
    const init: RequestInit = { headers: { Accept: accept }, ...(signal ? { signal } : {}) };
    const response = await this.send(new Request(this.transport.base + path, init));
    if (!response.ok) throw await failureOf(response);
    return response;
  }

  /** A POST of something large, as JSON comes back; told of while it goes out. */
  async upload<T>(wanted: Upload): Promise<T> {
    const signal = this.ofThisUser(wanted.signal);
    const response = await this.transport.inSession(
      (token) =>
        upload(this.transport.base + wanted.path, {
          ...wanted,
          signal,
          headers: { ...wanted.headers, ...(token ? { [TOKEN_HEADER]: token } : {}) },
        }),
      this,
      signal,
    );
    if (!response.ok) throw await failureOf(response);
    return (await response.json()) as T;
  }

  /** Send with the token. A request that lacks a session waits for one; it had no effect until then. */
  send(request: Request): Promise<Response> {
    return this.transport.send(new Request(request, { signal: this.ofThisUser(request.signal) }), this);
  }

  /** Aborts with `signal`, and when the page forgets its user. */
  ofThisUser(signal?: AbortSignal): AbortSignal {
    const { gone } = this.session;
    return signal ? AbortSignal.any([signal, gone]) : gone;
  }

  async token(signal?: AbortSignal): Promise<string | undefined> {
    for (;;) {
      await this.session.whenOpen(signal);
      const token = await this.session.tokenForRequest();
      if (this.session.state === "open") return token;
    }
  }

  async refused({ error: { code }, token }: Refusal): Promise<boolean> {
    if (code !== "key-not-cached" && !RENEWABLE_CODES.has(code)) return false;
    // Another request may have found out already.
    if (token === this.session.token) await this.recover(code);
    return true;
  }

  renew(): Promise<boolean> {
    return this.session.renew();
  }

  /** Look whether the session is still what it was: whose it is, and whether it works. */
  async look(): Promise<void> {
    const { session } = this;
    if (!session.config.tokenUrl) return;
    if (session.state !== "open" && !session.gone.aborted) {
      await this.tryAgain();
      return;
    }
    await session.look();
    if (session.state !== "open") return;
    await unlessCutOff(async () => {
      const code = await this.refusal();
      if (code) await this.recover(code);
    });
  }

  /** Whether the session works again: the host gives a token, and the service takes it. */
  async tryAgain(): Promise<boolean> {
    await unlessCutOff(() => this.recover("session-token-expired"));
    return this.session.state === "open";
  }

  /** Find out what became of the session, once for all requests that were refused at the same time. */
  private recover(code: string): Promise<void> {
    return (this.recovering ??= this.settle(code).finally(() => (this.recovering = undefined)));
  }

  private async settle(code: string): Promise<void> {
    const { session } = this;
    let refusal: string | undefined = code;
    if (session.config.tokenUrl) {
      if (!(await session.renew())) {
        // Nobody can say who is signed in, and it is more than an hour that has ended this session.
        if (session.state === "away" && code !== "session-token-expired") session.close(endedBy(code));
        return;
      }
      // A token that is refused although it is new ends the session.
      refusal = await this.refusal();
    }
    if (refusal === undefined) session.reopen();
    else session.close(endedBy(refusal));
  }

  /** The code with which the service refuses the token, if it does. */
  private async refusal(): Promise<string | undefined> {
    const { gone, token } = this.session;
    const request = new Request(`${this.transport.base}/api/users/me`, { signal: gone });
    const answer = await this.transport.deliver(request, token);
    if (answer.status === 401) return (await errorOf(answer)).code;
    // A body that nobody reads keeps its connection.
    await answer.text();
    return undefined;
  }
}

function endedBy(code: string): "locked" | "ended" {
  return code === "key-not-cached" ? "locked" : "ended";
}

/** For what nobody waits for: without a connection it is done later, and not at all for a user who is gone. */
async function unlessCutOff(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isBroken(error) && !isAbort(error)) throw error;
  }
}
