/** The host website's side, for a server in Node: users, sign-in, sessions. Never for a browser: it needs the secret. */
import { ApiError, ConnectionLost, failureOf, unreadable } from "./errors.js";

const ITERATIONS = 600_000;
const CALL_SECONDS = 10;
/** A rekey rewrites the whole database. */
const REKEY_SECONDS = 300;
/** A token lives for an hour; it is handed out for so long. */
const KEPT_MILLISECONDS = 55 * 60_000;
const LONE_SURROGATE = /\p{Surrogate}/u;
const LOCAL = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

/** What `session` returns when the user has to type the password. */
export const LOCKED: unique symbol = Symbol("locked");
export type Membership = "free" | "paid";

/**
 * Nobody can say whether the workspace was re-encrypted. Keep both passwords' hashes: at the next sign-in, the password
 * that `signIn` takes is the one that counts.
 */
export class PasswordChangeUnknown extends Error {
  override readonly name = "PasswordChangeUnknown";
}

/**
 * The key of a workspace in hexadecimal digits: PBKDF2-SHA256 over the password's SHA-256, salted with the uuid. The
 * password goes in as it was typed.
 */
export async function deriveKeyHex(password: string, uuid: string): Promise<string> {
  if (LONE_SURROGATE.test(password) || LONE_SURROGATE.test(uuid)) {
    throw new TypeError("password and uuid must be valid Unicode");
  }
  const encoder = new TextEncoder();
  const fingerprint = hex(await crypto.subtle.digest("SHA-256", encoder.encode(password)));
  const secret = await crypto.subtle.importKey("raw", encoder.encode(fingerprint), "PBKDF2", false, ["deriveBits"]);
  const how = { name: "PBKDF2", hash: "SHA-256", salt: encoder.encode(uuid), iterations: ITERATIONS };
  return hex(await crypto.subtle.deriveBits(how, secret, 256));
}

/** One object serves a whole website. It keeps tokens in memory, and neither passwords nor keys. */
export class Host {
  readonly #url: string;
  readonly #secret: string;
  readonly #kept = new Map<string, { token: string; until: number }>();

  /** `url` is without `/api`, and HTTPS except on this machine. */
  constructor(url: string, pluginSecret: string) {
    this.#url = url.replace(/\/+$/, "");
    if (!this.#url.startsWith("https://") && !LOCAL.test(this.#url)) throw new TypeError("the address must be HTTPS");
    this.#secret = pluginSecret;
  }

  /** Create the user, or find it there, and sign in for the first time, which makes the workspace. */
  async signUp(uuid: string, password: string, membership: Membership = "free"): Promise<string> {
    try {
      await this.#send("POST", "/users", { uuid, membership });
    } catch (error) {
      if (codeOf(error) !== "user-exists") throw error;
    }
    return this.signIn(uuid, password);
  }

  /** Derive the key, deliver it, keep the token. An `ApiError` with `key-rejected`: the password is not the workspace's. */
  async signIn(uuid: string, password: string): Promise<string> {
    return this.#login(uuid, await deriveKeyHex(password, uuid));
  }

  /** The token for the user's page, or `LOCKED` when the user has to type the password. */
  async session(uuid: string): Promise<string | typeof LOCKED> {
    const kept = this.#kept.get(uuid);
    if (kept !== undefined && Date.now() < kept.until) return kept.token;
    try {
      return await this.#issue("/auth/refresh", { uuid });
    } catch (error) {
      if (codeOf(error) !== "key-not-cached") throw error;
      this.forget(uuid);
      return LOCKED;
    }
  }

  /** Drop the kept token, because the service refused it. */
  forget(uuid: string): void {
    this.#kept.delete(uuid);
  }

  /** End every session of the user. The kept token is dropped, also if the service does not answer. */
  async signOut(uuid: string): Promise<void> {
    this.forget(uuid);
    try {
      await this.#send("POST", "/auth/logout", { uuid });
    } catch (error) {
      if (codeOf(error) !== "user-not-provisioned") throw error;
    } finally {
      this.forget(uuid);
    }
  }

  /**
   * Re-encrypt the workspace for the new password, and return a token.
   *
   * 1. Keep the new password's hash beside the old one's, as *pending*. 2. Call this. 3. Put the new hash in the old
   * one's place, also when this throws `workspace-absent`. On `PasswordChangeUnknown` *pending* stays; on every other
   * error nothing was changed.
   */
  async changePassword(uuid: string, oldPassword: string, newPassword: string): Promise<string> {
    return this.#rekey(uuid, await deriveKeyHex(newPassword, uuid), await deriveKeyHex(oldPassword, uuid));
  }

  /** The same for somebody who forgot the old password: with the key in the service's memory (`old-key-required`). */
  async resetPassword(uuid: string, newPassword: string): Promise<string> {
    return this.#rekey(uuid, await deriveKeyHex(newPassword, uuid));
  }

  /** Sessions stay valid. A free user can still read, export and delete. */
  async setMembership(uuid: string, membership: Membership): Promise<void> {
    const verb = membership === "paid" ? "activate" : "deactivate";
    await this.#send("POST", `/users/${encodeURIComponent(uuid)}/${verb}`);
  }

  /** Delete the user with everything, for good; false if there was none. */
  async delete(uuid: string): Promise<boolean> {
    try {
      await this.#send("DELETE", `/users/${encodeURIComponent(uuid)}`, undefined, 60);
      return true;
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return false;
      throw error;
    } finally {
      this.forget(uuid);
    }
  }

  async #rekey(uuid: string, newKey: string, oldKey?: string): Promise<string> {
    const body = { uuid, new_db_key_hex: newKey, ...(oldKey === undefined ? {} : { old_db_key_hex: oldKey }) };
    const send = () => this.#issue("/auth/rekey", body, REKEY_SECONDS);
    this.forget(uuid);
    try {
      return await send();
    } catch (error) {
      const isInDoubt = mayHaveHappened(error);
      if (!isInDoubt && (oldKey === undefined || codeOf(error) !== "key-rejected")) throw error;
      try {
        // Without the old key, the one in memory opens the workspace whether or not the first call did its work. A login
        // with the new key would drop it if not.
        return await (oldKey === undefined ? send() : this.#login(uuid, newKey));
      } catch (second) {
        if (!isInDoubt && codeOf(second) === "key-rejected") throw error;
        if (oldKey === undefined && codeOf(second) === "old-key-required") {
          return this.#login(uuid, newKey).catch((third: unknown) => {
            throw new PasswordChangeUnknown("keep the change pending", { cause: third });
          });
        }
        throw new PasswordChangeUnknown("keep the change pending", { cause: second });
      }
    }
  }

  #login(uuid: string, key: string): Promise<string> {
    return this.#issue("/auth/login", { uuid, db_key_hex: key }).catch((error: unknown) => {
      // A rejected key takes the one in the service's memory with it.
      if (codeOf(error) === "key-rejected") this.forget(uuid);
      throw error;
    });
  }

  async #issue(path: string, body: { uuid: string; [field: string]: string }, seconds = CALL_SECONDS): Promise<string> {
    const response = await this.#send("POST", path, body, seconds);
    const answer = (await response.json().catch(() => undefined)) as { session_token?: unknown } | undefined;
    if (typeof answer?.session_token !== "string") throw unreadable(response);
    this.#kept.set(body.uuid, { token: answer.session_token, until: Date.now() + KEPT_MILLISECONDS });
    return answer.session_token;
  }

  async #send(method: string, path: string, body?: object, seconds = CALL_SECONDS): Promise<Response> {
    const headers: Record<string, string> = { "X-SVC-Plugin-Secret": this.#secret };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const signal = AbortSignal.timeout(seconds * 1000);
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${this.#url}/api${path}`, {
      method,
      headers,
      signal,
      redirect: "error",
      ...sent,
    }).catch((error: unknown) => {
      throw new ConnectionLost(error);
    });
    if (!response.ok) throw await failureOf(response);
    return response;
  }
}

function codeOf(error: unknown): string {
  return error instanceof ApiError ? error.code : "";
}

/** Carrel's own refusals say that nothing was changed; a lost connection, a proxy's page or an internal error do not. */
function mayHaveHappened(error: unknown): boolean {
  if (error instanceof ConnectionLost) return error.sent;
  return !(error instanceof ApiError) || ["internal", "unreadable-answer"].includes(error.code);
}

function hex(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
