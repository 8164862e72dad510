/**
 * The session of this page: a token that lives in memory only, its renewal, and the waiting while there is none.
 *
 * A request that is refused for want of a session did nothing, so it waits here and is sent again when the user is
 * back.
 */

export interface HostConfig {
  /** Where the service is; `/api` follows it. */
  baseUrl: string;
  sessionToken?: string;
  /**
   * An address of the host that answers GET with `{"session_token": …}` for the user who is signed in there, and POST
   * with a new one when the service refused the last.
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

/** `locked`: the service forgot the key. `ended`: the host gives no token any more. `missing`: there never was one. */
export type SessionState = "open" | "locked" | "ended" | "missing";

const EARLY_SECONDS = 60;

export class Session {
  readonly config: HostConfig;
  private token: string | undefined;
  private current: SessionState;
  private renewing: Promise<boolean> | undefined;
  private readonly listeners = new Set<() => void>();

  constructor(config: HostConfig) {
    const { sessionToken, ...rest } = config;
    this.config = rest;
    this.token = sessionToken;
    this.current = sessionToken || rest.tokenUrl ? "open" : "missing";
  }

  get state(): SessionState {
    return this.current;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** The token for a request, renewed before it ends. */
  async tokenForRequest(now = Date.now()): Promise<string | undefined> {
    const ends = this.token ? expiryOf(this.token) : 0;
    if (this.config.tokenUrl && ends !== undefined && ends - EARLY_SECONDS < now / 1000) await this.renew();
    return this.token;
  }

  /**
   * Fetch a token from the host, once for all who ask at the same time. False if the host gives none.
   *
   * `isRefused`: the service refused the present one, so that the host shall not hand out again what it keeps.
   */
  renew(isRefused = false): Promise<boolean> {
    this.renewing ??= this.fetchToken(isRefused).finally(() => (this.renewing = undefined));
    return this.renewing;
  }

  /** The user gave a token by hand, or the host's page did. */
  accept(token: string): void {
    this.token = token;
    this.move("open");
  }

  /** A request was refused; nothing is sent until the session is open again. */
  close(state: Exclude<SessionState, "open">): void {
    this.move(state);
  }

  /** The token works again. */
  reopen(): void {
    this.move("open");
  }

  /** Resolves when the session is open; rejects when `signal` aborts. */
  whenOpen(signal?: AbortSignal | null): Promise<void> {
    if (this.current === "open") return Promise.resolve();
    return new Promise((resolve, reject) => {
      const stop = this.subscribe(() => {
        if (this.current !== "open") return;
        stop();
        resolve();
      });
      signal?.addEventListener("abort", () => {
        stop();
        reject(signal.reason as Error);
      });
    });
  }

  private async fetchToken(isRefused: boolean): Promise<boolean> {
    const { tokenUrl } = this.config;
    if (!tokenUrl) return false;
    const ask = (method: string) =>
      fetch(tokenUrl, {
        method,
        headers: { Accept: "application/json" },
        credentials: "same-origin",
        cache: "no-store",
      });
    let response = await ask(isRefused ? "POST" : "GET");
    // A host that keeps no tokens need not know POST.
    if (isRefused && !response.ok && response.status !== 401) response = await ask("GET");
    const token = response.ok ? await tokenIn(response) : undefined;
    if (!token) return false;
    this.token = token;
    return true;
  }

  private move(state: SessionState): void {
    if (state === this.current) return;
    this.current = state;
    for (const listener of this.listeners) listener();
  }
}

/** When a token ends, in seconds; undefined if that cannot be read. */
export function expiryOf(token: string): number | undefined {
  try {
    const payload = (token.split(".")[0] ?? "").replaceAll("-", "+").replaceAll("_", "/");
    const { exp } = JSON.parse(atob(payload)) as { exp?: unknown };
    return typeof exp === "number" ? exp : undefined;
  } catch {
    return undefined;
  }
}

/** The host may answer with a page to sign in, which is no token either. */
async function tokenIn(response: Response): Promise<string | undefined> {
  try {
    const { session_token } = (await response.json()) as { session_token?: unknown };
    return typeof session_token === "string" ? session_token : undefined;
  } catch {
    return undefined;
  }
}
