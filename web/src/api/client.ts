/**
 * The client of the API: typed by openapi.json, with the session token, and with requests that wait while the session
 * is renewed.
 */
import createClient, { type Client } from "openapi-fetch";
import { Connection } from "./connection";
import { ConnectionLost, errorOf, isAbort } from "./errors";
import type { paths } from "./schema";
import { type HostConfig, Session } from "./session";
import { type Upload, upload } from "./upload";

/** A row and the version that it was read at, to be sent back as `If-Match`. */
export interface Tagged<T> {
  value: T;
  etag: string | undefined;
}

const TOKEN = "X-SVC-Session-Token";
const RENEWABLE = new Set([
  "session-token-expired",
  "session-token-revoked",
  "session-token-invalid",
  "session-token-missing",
]);

export class Api {
  readonly session: Session;
  readonly connection: Connection;
  readonly client: Client<paths>;
  private readonly base: string;

  constructor(config: HostConfig) {
    this.base = config.baseUrl.replace(/\/+$/, "");
    this.session = new Session(config);
    this.connection = new Connection(`${this.base}/api/health`);
    this.client = createClient<paths>({ baseUrl: this.base, fetch: (request) => this.send(request) });
  }

  /** A GET of something that is not JSON, such as a report or a zip. */
  async raw(path: string, accept: string, signal?: AbortSignal): Promise<Response> {
    const init: RequestInit = { headers: { Accept: accept }, ...(signal ? { signal } : {}) };
    const response = await this.send(new Request(this.base + path, init));
    if (!response.ok) throw await errorOf(response);
    return response;
  }

  /** A POST of something large, as JSON comes back; told of while it goes out. */
  async upload<T>(wanted: Upload): Promise<T> {
    const response = await this.inSession(
      (token) =>
        upload(this.base + wanted.path, {
          ...wanted,
          headers: { ...wanted.headers, ...(token ? { [TOKEN]: token } : {}) },
        }),
      wanted.signal,
    );
    if (!response.ok) throw await errorOf(response);
    return (await response.json()) as T;
  }

  /** Send with the token. A request that lacks a session waits for one; it had no effect until then. */
  send(request: Request): Promise<Response> {
    return this.inSession((token) => fetchWith(request, token), request.signal);
  }

  private async inSession(send: Sender, signal?: AbortSignal): Promise<Response> {
    for (;;) {
      await this.session.whenOpen(signal);
      const response = await this.attempt(send);
      if (response.status !== 401) return response;
      const { code } = await errorOf(response);
      if (code === "key-not-cached") this.session.close("locked");
      else if (!RENEWABLE.has(code)) return response;
      else if (!(await this.renewed(signal))) this.session.close("ended");
    }
  }

  /** Whether the session works again: the host gives a token, and the service takes it. */
  async tryAgain(): Promise<boolean> {
    try {
      if (this.session.config.tokenUrl && !(await this.session.renew(true))) return false;
      const response = await this.attempt((token) => fetchWith(new Request(`${this.base}/api/users/me`), token));
      if (!response.ok) return false;
    } catch {
      return false;
    }
    this.session.reopen();
    return true;
  }

  private async attempt(send: Sender): Promise<Response> {
    try {
      const response = await send(await this.session.tokenForRequest());
      this.connection.succeeded();
      return response;
    } catch (error) {
      if (isAbort(error)) throw error;
      this.connection.failed();
      throw new ConnectionLost();
    }
  }

  /** One renewal for each refusal; a token that is refused although it is new ends the session. */
  private async renewed(signal?: AbortSignal): Promise<boolean> {
    if (!(await this.session.renew(true))) return false;
    const me = new Request(`${this.base}/api/users/me`, signal ? { signal } : {});
    const again = await this.attempt((token) => fetchWith(me, token));
    if (again.status !== 401) return true;
    if ((await errorOf(again)).code !== "key-not-cached") return false;
    this.session.close("locked");
    return true;
  }
}

type Sender = (token: string | undefined) => Promise<Response>;

function fetchWith(request: Request, token: string | undefined): Promise<Response> {
  const copy = request.clone();
  if (token) copy.headers.set(TOKEN, token);
  return fetch(copy, { credentials: "omit", cache: "no-store", redirect: "error" });
}

interface Answered {
  data?: unknown;
  error?: unknown;
  response: Response;
}

type DataOf<A extends Answered> = Exclude<A["data"], undefined>;

/** What a request brought, or its error. */
export async function data<A extends Answered>(answer: Promise<A>): Promise<DataOf<A>> {
  return (await tagged(answer)).value;
}

/** The same, with the ETag that it carried. */
export async function tagged<A extends Answered>(answer: Promise<A>): Promise<Tagged<DataOf<A>>> {
  const { data: value, response } = await answer;
  if (!response.ok) throw await errorFrom(await answer);
  return { value: value as DataOf<A>, etag: response.headers.get("ETag") ?? undefined };
}

/** openapi-fetch has read the body already and hands it over as `error`. */
async function errorFrom(answer: Answered): Promise<Error> {
  const body = answer.error === undefined ? null : JSON.stringify(answer.error);
  return errorOf(new Response(body, { status: answer.response.status, headers: answer.response.headers }));
}

/** The headers of an edit that must not overwrite somebody else's. */
export function ifMatch(etag: string | undefined): { "If-Match"?: string } {
  return etag ? { "If-Match": etag } : {};
}
