/** What a session token says of itself. Whether it is true, only the service can tell. */
export interface Claims {
  /** Whose session it is. */
  uuid?: string;
  /** When it ends, in seconds of the epoch. */
  exp?: number;
}

/** The claims of `token`; nothing of a token that is none of a person's, such as a program's. */
export function claimsOf(token: string): Claims {
  try {
    const payload = (token.split(".")[0] ?? "").replaceAll("-", "+").replaceAll("_", "/");
    const { uuid, exp } = JSON.parse(atob(payload)) as Record<string, unknown>;
    return { ...(typeof uuid === "string" ? { uuid } : {}), ...(typeof exp === "number" ? { exp } : {}) };
  } catch {
    return {};
  }
}
