/** Every route of openapi.json as a typed call: its parameters and body go in, what it answers comes out. */
import { ConnectionLost, failureOf, isBroken, unreadable } from "./errors.js";
import type { paths } from "./schema.js";

type Verb = "get" | "post" | "put" | "patch" | "delete";
type PathOf<V extends Verb> = {
  [P in keyof paths]: paths[P] extends Record<V, { responses: unknown }> ? P : never;
}[keyof paths];
type Operation<P extends keyof paths, V extends Verb> = paths[P] extends Record<V, infer O> ? O : never;

type Json<C> = C extends { "application/json": infer T } ? T : C[keyof C];
type ContentOf<R> = R extends { content: infer C } ? Json<C> : undefined;
type Good<O> = O extends { responses: infer R } ? ContentOf<R[keyof R & (200 | 201 | 202 | 204)]> : undefined;

type Parameters<O> = O extends { parameters: infer P }
  ? Partial<P> extends P
    ? { params?: P }
    : { params: P }
  : { params?: never };
type Body<O> = O extends { requestBody: { content: infer C } }
  ? { body: Json<C> | FormData }
  : O extends { requestBody?: infer B }
    ? { body?: NonNullable<B> extends { content: infer C } ? Json<C> | FormData : never }
    : { body?: never };
type Options<O> = Parameters<O> & Body<O> & { headers?: Record<string, string>; signal?: AbortSignal };
type Given<O> = Partial<Options<O>> extends Options<O> ? [options?: Options<O>] : [options: Options<O>];

/** What came back, good or not; `data` and `tagged` take the value out or throw. */
export interface Answered<T> {
  data?: T;
  response: Response;
}

type Call<V extends Verb> = <P extends PathOf<V>>(
  path: P,
  ...given: Given<Operation<P, V>>
) => Promise<Answered<Good<Operation<P, V>>>>;

export interface Client {
  GET: Call<"get">;
  POST: Call<"post">;
  PUT: Call<"put">;
  PATCH: Call<"patch">;
  DELETE: Call<"delete">;
}

/** A value and the version that it was read at, to be sent back as `If-Match`. */
export interface Tagged<T> {
  value: T;
  etag: string | undefined;
}

/** The typed calls, sent by `send`. `base` is the address without `/api`. */
export function clientOf(base: string, send: (request: Request) => Promise<Response>): Client {
  const calling =
    (method: string) =>
    async (path: string, options: Plain = {}): Promise<Answered<unknown>> => {
      const response = await send(requestOf(base, method, path, options));
      return response.ok ? { data: await valueIn(response), response } : { response };
    };
  // The types of the calls follow from openapi.json; what is sent is the same for all.
  return {
    GET: calling("GET"),
    POST: calling("POST"),
    PUT: calling("PUT"),
    PATCH: calling("PATCH"),
    DELETE: calling("DELETE"),
  } as unknown as Client;
}

/** What a request brought, or its error. */
export async function data<T>(answer: Promise<Answered<T>>): Promise<Exclude<T, undefined>> {
  return (await tagged(answer)).value;
}

/** The same, with the ETag that it carried. */
export async function tagged<T>(answer: Promise<Answered<T>>): Promise<Tagged<Exclude<T, undefined>>> {
  const { data: value, response } = await answer;
  if (!response.ok) throw await failureOf(response);
  return { value: value as Exclude<T, undefined>, etag: response.headers.get("ETag") ?? undefined };
}

/** The headers of an edit that must not overwrite somebody else's. */
export function ifMatch(etag: string | undefined): { "If-Match"?: string } {
  return etag ? { "If-Match": etag } : {};
}

interface Plain {
  params?: { path?: Named; query?: Named; header?: Named };
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

type Named = Record<string, unknown>;

function requestOf(base: string, method: string, path: string, options: Plain): Request {
  const { params = {}, body, signal } = options;
  const address = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(textOf(params.path?.[name])));
  const query = new URLSearchParams(pairs(params.query)).toString();
  const headers = new Headers({ ...Object.fromEntries(pairs(params.header)), ...options.headers });
  const isForm = body instanceof FormData;
  if (body !== undefined && !isForm) headers.set("Content-Type", "application/json");
  return new Request(base + address + (query && `?${query}`), {
    method,
    headers,
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
  });
}

/** A list is sent as one pair for each of its values. */
function pairs(named: Named = {}): [string, string][] {
  return Object.entries(named).flatMap(([name, value]) => {
    const values: unknown[] = Array.isArray(value) ? value : [value];
    return values
      .filter((one) => one !== undefined && one !== null)
      .map((one): [string, string] => [name, textOf(one)]);
  });
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

async function valueIn(response: Response): Promise<unknown> {
  const text = await response.text().catch((error: unknown) => {
    throw isBroken(error) ? new ConnectionLost(error) : error;
  });
  if (!text) return undefined;
  if (!response.headers.get("Content-Type")?.includes("json")) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw unreadable(response);
  }
}
