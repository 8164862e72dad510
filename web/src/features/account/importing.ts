/** A zip on its way into the workspace: a large one in parts, which go on where the line was cut. */
import { ApiError, ConnectionLost } from "carrel-sdk";
import type { Api } from "../../api/client";
import type { Imported, Received } from "../../api/types";

const PART_BYTES = 32 * 1024 * 1024;
/** Cuts between which nothing came through. */
const MOST_CUTS = 5;
const MISPLACED = "import-part-misplaced";

export interface Sending {
  signal: AbortSignal;
  /** How much of the zip went out, from 0 to 1. */
  onSent: (share: number) => void;
  partBytes?: number;
}

/** Also goes on with what an earlier try of the same zip has left. */
export async function bringIn(api: Api, zip: File, sending: Sending): Promise<Imported> {
  const { signal, onSent, partBytes = PART_BYTES } = sending;
  const total = zip.size;
  const send = <T>(start: number, end: number, range?: string) =>
    api.upload<T>({
      path: "/api/users/me/import",
      body: new File([zip.slice(start, end)], zip.name),
      headers: { "Content-Type": "application/zip", ...(range ? { "Content-Range": `bytes ${range}/${total}` } : {}) },
      signal,
      onSent: (count, of) => onSent(of ? (start + ((end - start) * count) / of) / total : 1),
    });
  if (total <= partBytes) return send<Imported>(0, total);

  /** What the service has of it; where that is all, it is read. */
  const look = () =>
    send<Imported | Received>(0, 0, "*").catch((error: unknown) => {
      if (codeOf(error) === MISPLACED) return undefined;
      throw error;
    });
  let found = await look();
  let isOlder = found !== undefined;
  let [cuts, last] = [0, 0];
  while (!found || "received_bytes" in found) {
    const received = found?.received_bytes ?? 0;
    const start = received < total ? received : 0;
    const end = Math.min(start + partBytes, total);
    if (start > last) cuts = 0;
    last = start;
    try {
      found = await send<Imported | Received>(start, end, `${start}-${end - 1}`);
    } catch (error) {
      if (isOlder && codeOf(error) === "import-unreadable") {
        // What was here was of another zip, and is gone.
        [found, isOlder] = [undefined, false];
        continue;
      }
      cuts += 1;
      const goesOn = isCut(error) && cuts < MOST_CUTS;
      if (goesOn) await answering(api, signal);
      found = goesOn ? await look() : undefined;
      // Nothing is kept of an import that is done.
      if (!found && (!goesOn || end === total)) throw error;
    }
  }
  return found;
}

const codeOf = (error: unknown) => (error instanceof ApiError ? error.code : "");

const isCut = (error: unknown) =>
  error instanceof ConnectionLost || (error instanceof ApiError && (error.status === 503 || error.code === MISPLACED));

/** Wait until the service answers, or the user does not want it any more. */
function answering(api: Api, signal: AbortSignal): Promise<void> {
  return Promise.race([
    api.connection.afterFailure(),
    new Promise<void>((_, reject) =>
      signal.addEventListener("abort", () => reject(new DOMException("Stopped.", "AbortError"))),
    ),
  ]);
}
