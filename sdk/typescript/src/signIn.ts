/** How a program signs in: with a token and a function that fetches the next one, or with a program key. */
import { claimsOf } from "./claims.js";
import { failureOf, OtherUser } from "./errors.js";
import type { components } from "./schema.js";
import type { Refusal, SignIn, Transport } from "./transport.js";

export type RenewToken = () => string | Promise<string>;

/** How every program key begins. */
export const PROGRAM_KEY_PREFIX = "carrel_pk_";

/** A new token helps. */
export const RENEWABLE_CODES: ReadonlySet<string> = new Set([
  "session-token-expired",
  "session-token-revoked",
  "session-token-invalid",
  "session-token-missing",
]);

/**
 * Signs in again once for each request that is refused, and once for all that are refused at the same time.
 *
 * All tokens are one user's: a request that was made for the first one must not be sent as somebody else's.
 */
export class TokenSignIn implements SignIn {
  private fetching: Promise<string> | undefined;
  private uuid: string | undefined;

  constructor(
    private current: string | undefined,
    private readonly fetchToken: RenewToken | undefined,
    private readonly codes: ReadonlySet<string> = RENEWABLE_CODES,
  ) {
    this.uuid = current && claimsOf(current).uuid;
  }

  async token(): Promise<string | undefined> {
    return this.current ?? (await this.renew());
  }

  async refused({ error, token, before }: Refusal): Promise<boolean> {
    if (before > 0 || !this.fetchToken || !this.codes.has(error.code)) return false;
    // Another request may have fetched the next one already.
    if (token === this.current) await this.renew();
    return true;
  }

  async renew(): Promise<string | undefined> {
    const { fetchToken } = this;
    if (!fetchToken) return this.current;
    this.fetching ??= Promise.resolve()
      .then(fetchToken)
      .finally(() => (this.fetching = undefined));
    const fetched = await this.fetching;
    const { uuid } = claimsOf(fetched);
    this.uuid ??= uuid;
    if (uuid !== this.uuid) throw new OtherUser();
    return (this.current = fetched);
  }
}

/** Exchanges the key for a token at the first request, and again whenever the session has ended. */
export function programSignIn(transport: Transport, programKey: string): SignIn {
  const exchange = async () => {
    const request = new Request(`${transport.base}/api/auth/program`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ program_key: programKey }),
    });
    // Each exchange stands alone, so a second one does no harm.
    const response = await transport.deliver(request, undefined, true);
    if (!response.ok) throw await failureOf(response);
    return ((await response.json()) as components["schemas"]["ProgramSessionOut"]).session_token;
  };
  return new TokenSignIn(undefined, exchange, new Set([...RENEWABLE_CODES, "key-not-cached"]));
}
