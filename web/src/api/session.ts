/**
 * The session of this page: a token that lives in memory only, its renewal, and the waiting while there is none.
 *
 * A page is one user's, whose uuid its tokens carry. A request that is refused for want of a session did nothing, so it
 * waits here and is sent again when this user is back. A token of another user is never held: it ends the page.
 */
import { claimsOf, isBroken } from "carrel-sdk";

export interface HostConfig {
  /** Where the service is; `/api` follows it. */
  baseUrl: string;
  sessionToken?: string;
  /** What the host calls the user who is signed in there, such as an e-mail address. It is only shown. */
  userName?: string;
  /**
   * An address of the host that answers GET with `{"session_token": …, "user_name": …}` for the user who is signed in
   * there, and POST with a new token when the service refused the last. Without a token to give, it says why: `REASONS`.
   */
  tokenUrl?: string;
  /** A page of the host where the user enters the password again. */
  unlockUrl?: string;
  /** A page of the host where a membership can be bought. */
  upgradeUrl?: string;
  /** The page of the app to begin with where the address names none, such as `/compare`. */
  page?: string;
  /** Leave out the app's own navigation, because the host's page has one. */
  hideNavigation?: boolean;
}

/**
 * Whether requests go out, and why they do not.
 *
 * `missing`: there never was a token. `away`: the host cannot be asked, or cannot ask the service. `locked`: the
 * password is needed. `signed-out`: the host says so. `ended`: there is no token, and nobody says why.
 *
 * The rest end the page, which forgets everything. `left`: the user signed out here. `deleted`: the host says that the
 * account was. `other`: somebody else signed in.
 */
export type SessionState = "open" | "missing" | "away" | Ended;
export type Ended = "locked" | "signed-out" | "ended" | "left" | "deleted" | "other";

const FINAL: ReadonlySet<SessionState> = new Set<SessionState>(["left", "deleted", "other"]);

/** By the `code` with which the host gives no token. */
const REASONS: ReadonlyMap<unknown, SessionState> = new Map<unknown, SessionState>([
  ["key-not-cached", "locked"],
  ["signed-out", "signed-out"],
  ["account-deleted", "deleted"],
]);

export interface User {
  uuid: string;
  /** As the host calls them. */
  name: string | undefined;
}

export interface Shown {
  state: SessionState;
  /** Who was signed in at last, as far as this page knows. */
  user: User | undefined;
}

interface Given {
  token: string;
  name: string | undefined;
}

type Method = "GET" | "POST";

const EARLY_SECONDS = 60;

export class Session {
  readonly config: HostConfig;
  private held: string | undefined;
  /** Whose page this is, from the first token on. */
  private uuid: string | undefined;
  private current: Shown;
  private readonly end = new AbortController();
  private readonly asking = new Map<Method, Promise<Given | SessionState>>();
  private readonly listeners = new Set<() => void>();

  constructor(config: HostConfig) {
    const { sessionToken, ...rest } = config;
    this.config = rest;
    this.held = sessionToken;
    this.uuid = sessionToken && claimsOf(sessionToken).uuid;
    this.current = {
      state: sessionToken || rest.tokenUrl ? "open" : "missing",
      user: this.uuid ? { uuid: this.uuid, name: rest.userName } : undefined,
    };
  }

  get shown(): Shown {
    return this.current;
  }

  get state(): SessionState {
    return this.current.state;
  }

  get token(): string | undefined {
    return this.held;
  }

  /** Aborts when the page has to forget its user; nothing is sent after that. */
  get gone(): AbortSignal {
    return this.end.signal;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** The token for a request, renewed before it ends. */
  async tokenForRequest(now = Date.now()): Promise<string | undefined> {
    if (this.config.tokenUrl && this.endsWithin(EARLY_SECONDS, now)) {
      const answer = await this.ask("GET");
      // What is not over yet works as long as it lasts.
      if (answer !== "away" || this.endsWithin(0, now)) this.take(answer);
    }
    return this.held;
  }

  /** A new token in the place of one that the service refused. False if the host gives none for this user. */
  async renew(): Promise<boolean> {
    return this.config.tokenUrl !== undefined && this.take(await this.ask("POST"));
  }

  /** Whether somebody else is signed in at the host by now, or nobody. Who is signed in keeps the token. */
  async look(): Promise<void> {
    if (!this.uuid) return;
    const answer = await this.ask("GET");
    if (typeof answer === "object") this.isOfThisUser(answer);
    else if (answer === "signed-out" || answer === "deleted") this.close(answer);
  }

  /** Whether a token that was entered by hand is of this page's user, and opens the session. */
  accept(token: string): boolean {
    if (this.uuid && claimsOf(token).uuid !== this.uuid) return false;
    if (this.take({ token, name: undefined })) this.reopen();
    return true;
  }

  /** A request was refused; nothing is sent until the session is open again. */
  close(state: Exclude<SessionState, "open">): void {
    this.show(state);
  }

  /** The token works again. */
  reopen(): void {
    this.show("open");
  }

  /** Resolves when the session is open; rejects when `signal` aborts, or when it will never be open again. */
  whenOpen(signal?: AbortSignal | null): Promise<void> {
    if (this.state === "open") return Promise.resolve();
    if (this.gone.aborted) return Promise.reject(this.gone.reason as Error);
    return new Promise((resolve, reject) => {
      const settle = () => {
        if (this.state !== "open" && !this.gone.aborted) return;
        stop();
        if (this.gone.aborted) reject(this.gone.reason as Error);
        else resolve();
      };
      const stop = this.subscribe(settle);
      signal?.addEventListener("abort", () => {
        stop();
        reject(signal.reason as Error);
      });
    });
  }

  /** What the host says, once for all who ask at the same time. */
  private ask(method: Method): Promise<Given | SessionState> {
    const asked = this.asking.get(method);
    if (asked) return asked;
    const answer = givenBy(this.config.tokenUrl ?? "", method).finally(() => this.asking.delete(method));
    this.asking.set(method, answer);
    return answer;
  }

  private take(answer: Given | SessionState): boolean {
    if (typeof answer === "string") {
      this.show(answer);
      return false;
    }
    if (!this.isOfThisUser(answer)) return false;
    this.held = answer.token;
    return true;
  }

  private isOfThisUser({ token, name }: Given): boolean {
    const { uuid } = claimsOf(token);
    this.uuid ??= uuid;
    if (uuid === this.uuid && !this.gone.aborted) {
      if (uuid) this.show(this.state, { uuid, name: name ?? this.current.user?.name });
      return true;
    }
    if (!uuid) this.show("ended");
    else if (uuid !== this.uuid || this.state === "other") this.show("other", { uuid, name });
    return false;
  }

  private endsWithin(seconds: number, now: number): boolean {
    const ends = this.held ? claimsOf(this.held).exp : 0;
    return ends !== undefined && ends - seconds < now / 1000;
  }

  private show(state: SessionState, user = this.current.user): void {
    const { state: before, user: known } = this.current;
    if (FINAL.has(before) && state !== "other") return;
    // What is out of sight stays so while the host cannot say who is signed in.
    if (state === "away" && before !== "open") return;
    if (state === before && user?.uuid === known?.uuid && user?.name === known?.name) return;
    this.current = { state, user };
    if (FINAL.has(state)) {
      this.held = undefined;
      this.end.abort(new DOMException("The page has forgotten its user.", "AbortError"));
    }
    for (const listener of this.listeners) listener();
  }
}

/** A token of whoever is signed in at the host, or why there is none. */
async function givenBy(tokenUrl: string, method: Method): Promise<Given | SessionState> {
  const ask = (by: Method) =>
    fetch(tokenUrl, {
      method: by,
      headers: { Accept: "application/json" },
      credentials: "same-origin",
      cache: "no-store",
    });
  let response: Response;
  try {
    response = await ask(method);
    // A host that keeps no tokens need not know POST.
    if (method === "POST" && !response.ok && response.status !== 401) response = await ask("GET");
  } catch (error) {
    if (!isBroken(error)) throw error;
    return "away";
  }
  if (response.status >= 500 || response.status === 429) return "away";
  const { session_token: token, user_name: name, code } = await objectIn(response);
  if (response.ok && typeof token === "string") return { token, name: typeof name === "string" ? name : undefined };
  return REASONS.get(code) ?? "ended";
}

/** The host may answer with a page to sign in, which says nothing. */
async function objectIn(response: Response): Promise<Record<string, unknown>> {
  try {
    const value: unknown = await response.json();
    return typeof value === "object" && value ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
