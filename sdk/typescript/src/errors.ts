/** What can go wrong with a request, in the service's one shape. */
import type { components } from "./schema.js";

export type Problem = components["schemas"]["Problem"];
export type Fault = components["schemas"]["Fault"];

/** The service refused, and says by `code` why. */
export class ApiError extends Error {
  override readonly name = "ApiError";

  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
    readonly faults: readonly Fault[] = [],
    readonly requestId?: string,
    readonly retryAfterSeconds?: number,
  ) {
    super(detail);
  }

  /** The request may well succeed if it is sent again. */
  get isPassing(): boolean {
    return [429, 502, 503, 504].includes(this.status);
  }
}

/**
 * Nothing came back, or a proxy's word for that: the service or the way to it is down, or it took too long. `cause` is
 * what the network said. `sent` is false only if the request certainly never arrived.
 */
export class ConnectionLost extends Error {
  override readonly name = "ConnectionLost";

  constructor(
    cause?: unknown,
    readonly sent = true,
  ) {
    super("The service cannot be reached.", { cause });
  }
}

/** The token that was fetched is not of the user who began. Nothing is sent with it. */
export class OtherUser extends Error {
  override readonly name = "OtherUser";

  constructor() {
    super("The new session token is not of the user who began.");
  }
}

/** A run has not ended in the time that `runs.wait` was given. The run goes on. */
export class WaitTimeout extends Error {
  override readonly name = "WaitTimeout";

  constructor(readonly runId: string) {
    super("The run has neither ended nor paused in time.");
  }
}

const UNREADABLE = "unreadable-answer";
const NOT_OURS = "The service gave an answer that is not one of Carrel's.";

/** What the proxies of `deploy` and of a cluster say in the service's place. */
const UNSENT = "service-unreachable";
const LOST = ["service-lost", "service-silent", "node-lost", "node-silent"];

/** What to throw for an answer that is none of the service's good ones. */
export async function failureOf(response: Response): Promise<ApiError | ConnectionLost> {
  const error = await errorOf(response);
  const isOfProxy = [502, 503, 504].includes(error.status) && [UNREADABLE, UNSENT, ...LOST].includes(error.code);
  return isOfProxy ? new ConnectionLost(error, error.code !== UNSENT) : error;
}

export async function errorOf(response: Response): Promise<ApiError> {
  const problem = await problemIn(response);
  const wait = Number(response.headers.get("Retry-After") ?? "");
  return new ApiError(
    response.status,
    problem?.code ?? UNREADABLE,
    problem?.detail ?? NOT_OURS,
    problem?.errors ?? [],
    problem?.request_id ?? requestIdOf(response),
    wait > 0 ? wait : undefined,
  );
}

/** The answer was good by its status, and cannot be read. */
export function unreadable(response: Response): ApiError {
  return new ApiError(response.status, UNREADABLE, NOT_OURS, [], requestIdOf(response));
}

function requestIdOf(response: Response): string | undefined {
  return response.headers.get("X-Request-ID") ?? undefined;
}

async function problemIn(response: Response): Promise<Partial<Problem> | undefined> {
  try {
    return (await response.clone().json()) as Partial<Problem>;
  } catch {
    return undefined;
  }
}

/** The faults of an error by the field that they name; what is inside a list counts for the list. */
export function faultsAt(error: unknown, path: string): string[] {
  if (!(error instanceof ApiError)) return [];
  return error.faults
    .filter((fault) => fault.path === path || fault.path.startsWith(`${path}[`) || fault.path.startsWith(`${path}.`))
    .map((fault) => fault.message);
}

/** Whether somebody else saved another version meanwhile. */
export function isOutdated(error: unknown): boolean {
  return error instanceof ApiError && error.status === 412;
}

/** Whether what was asked for does not exist, or no longer. */
export function isMissing(error: unknown): boolean {
  return error instanceof ApiError && error.code === "not-found";
}

/** Whether the network failed, in the words of this client or of `fetch`. */
export function isBroken(error: unknown): boolean {
  return error instanceof ConnectionLost || error instanceof TypeError;
}

/** The result of waiting for something that the user left. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}
