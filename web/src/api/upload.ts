/** A request whose body is large: sent by XMLHttpRequest, for only that tells how much of it is on its way. */
import { ConnectionLost } from "carrel-sdk";

export interface Upload {
  path: string;
  body: File | FormData;
  headers?: Record<string, string>;
  /** How many of how many bytes went out; what surrounds a file counts too. */
  onSent?: (sent: number, total: number) => void;
  signal?: AbortSignal;
}

/** The answer, whatever it says. */
export function upload(url: string, { body, headers = {}, onSent, signal }: Upload): Promise<Response> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const stop = () => request.abort();
    request.open("POST", url);
    request.responseType = "text";
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded, total }) => onSent?.(loaded, total);
    request.onload = () => resolve(answerOf(request));
    request.onerror = () => reject(new ConnectionLost());
    request.onabort = () => reject(new DOMException("Stopped.", "AbortError"));
    request.onloadend = () => signal?.removeEventListener("abort", stop);
    signal?.addEventListener("abort", stop);
    if (signal?.aborted) reject(new DOMException("Stopped.", "AbortError"));
    else request.send(body);
  });
}

function answerOf(request: XMLHttpRequest): Response {
  const lines = request
    .getAllResponseHeaders()
    .trim()
    .split(/[\r\n]+/);
  const headers = new Headers(
    lines
      .filter((line) => line.includes(":"))
      .map((line): [string, string] => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]),
  );
  const isEmpty = request.status === 204 || request.status === 304;
  return new Response(isEmpty ? null : request.responseText, { status: request.status, headers });
}
