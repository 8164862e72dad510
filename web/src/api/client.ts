/**
 * The app's session with the service: the client of `sdk/typescript`, with requests that wait while the session is
 * renewed.
 */
import {
  type Client,
  clientOf,
  errorOf,
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
    if (!response.ok) throw await errorOf(response);
    return response;
  }

  /** A POST of something large, as JSON comes back; told of while it goes out. */
  async upload<T>(wanted: Upload): Promise<T> {
    const response = await this.transport.inSession(
      (token) =>
        upload(this.transport.base + wanted.path, {
          ...wanted,
          headers: { ...wanted.headers, ...(token ? { [TOKEN_HEADER]: token } : {}) },
        }),
      this,
      wanted.signal,
    );
    if (!response.ok) throw await errorOf(response);
    return (await response.json()) as T;
  }

  /** Send with the token. A request that lacks a session waits for one; it had no effect until then. */
  send(request: Request): Promise<Response> {
    return this.transport.send(request, this);
  }

  async token(signal?: AbortSignal): Promise<string | undefined> {
    await this.session.whenOpen(signal);
    return this.session.tokenForRequest();
  }

  async refused({ error: { code }, signal }: Refusal): Promise<boolean> {
    if (code === "key-not-cached") this.session.close("locked");
    else if (!RENEWABLE_CODES.has(code)) return false;
    else if (!(await this.renewed(signal))) this.session.close("ended");
    return true;
  }

  renew(): Promise<boolean> {
    return this.session.renew(true);
  }

  /** Whether the session works again: the host gives a token, and the service takes it. */
  async tryAgain(): Promise<boolean> {
    try {
      if (this.session.config.tokenUrl && !(await this.renew())) return false;
      if (!(await this.me()).ok) return false;
    } catch {
      return false;
    }
    this.session.reopen();
    return true;
  }

  /** One renewal for each refusal; a token that is refused although it is new ends the session. */
  private async renewed(signal?: AbortSignal): Promise<boolean> {
    if (!(await this.renew())) return false;
    const again = await this.me(signal);
    if (again.status !== 401) return true;
    const { code } = await errorOf(again);
    if (code !== "key-not-cached") return false;
    this.session.close("locked");
    return true;
  }

  private async me(signal?: AbortSignal): Promise<Response> {
    const request = new Request(`${this.transport.base}/api/users/me`, signal ? { signal } : {});
    return this.transport.deliver(request, await this.session.tokenForRequest());
  }
}
