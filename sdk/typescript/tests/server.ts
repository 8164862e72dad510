/** A service on this machine that answers as a test says, and the waits of the client, which nobody wants to sit out. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished, vi } from "vitest";

export interface Received {
  method: string;
  path: string;
  token: string | undefined;
  headers: IncomingMessage["headers"];
  body: string;
}

type Answer = (response: ServerResponse, request: Received) => void;

export interface Service {
  url: string;
  received: Received[];
}

/** The answers come one after the other, and the last one as often as it is asked for. */
export async function serve(...answers: [Answer, ...Answer[]]): Promise<Service> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const token = request.headers["x-svc-session-token"];
      const one: Received = {
        method: request.method ?? "",
        path: request.url ?? "",
        token: typeof token === "string" ? token : undefined,
        headers: request.headers,
        body: Buffer.concat(parts).toString(),
      };
      const answer = answers[Math.min(received.length, answers.length - 1)];
      received.push(one);
      answer?.(response, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

/** A session token as the service spells it, of which only the signature is made up. */
export function tokenOf(uuid: string, exp = 4_000_000_000): string {
  return `${Buffer.from(JSON.stringify({ uuid, exp, v: 1 })).toString("base64url")}.c2ln`;
}

export function json(value: unknown, status = 200, headers: Record<string, string> = {}): Answer {
  return (response) => {
    response.writeHead(status, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(value));
  };
}

export function problem(status: number, code: string, more: object = {}, headers: Record<string, string> = {}): Answer {
  const type = { "Content-Type": "application/problem+json" };
  return json({ status, code, title: code, detail: `It is ${code}.`, ...more }, status, { ...type, ...headers });
}

/** The network breaks before anything came. */
export const hangUp: Answer = (response) => void response.destroy();

/** Nothing comes, ever. */
export const silence: Answer = () => undefined;

/** Waits of exactly these lengths are over at once; returns those that were asked for, in their order. */
export function withoutWaiting(...lengths: number[]): number[] {
  const asked: number[] = [];
  const set = globalThis.setTimeout;
  const spy = vi.spyOn(globalThis, "setTimeout").mockImplementation(((run: () => void, ms = 0) => {
    if (!lengths.includes(ms)) return set(run, ms);
    asked.push(ms);
    return set(run, 0);
  }) as typeof setTimeout);
  onTestFinished(() => spy.mockRestore());
  return asked;
}

export const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => Promise.reject(new Error("it succeeded")),
    (error: unknown) => error,
  );
