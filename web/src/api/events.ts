/** Following a run while its page is open. */
import { ApiError, follow as followStream, type ServerEvent } from "carrel-sdk";
import type { Api } from "./client";

export interface Follower {
  /** Events that came together, each once. */
  onEvents: (events: ServerEvent[]) => void;
  onLive: (live: boolean) => void;
}

/**
 * Follow the events of a run after `seq`, with answers while they are written, until it ends or `signal` aborts. A broken
 * stream is taken up again.
 */
export async function follow(
  api: Api,
  runId: string,
  seq: number,
  { onEvents, onLive }: Follower,
  signal: AbortSignal,
): Promise<void> {
  const path = `/api/runs/${encodeURIComponent(runId)}/events?texts=true`;
  try {
    const following = { after: seq, signal: api.ofThisUser(signal), onLive, maxFailures: Infinity };
    const streams = followStream(api.transport, api, path, following);
    for await (const events of streams) onEvents(events);
  } catch (error) {
    // The run is gone, or is not for this user: the page's own queries say so.
    if (!(error instanceof ApiError)) throw error;
    onLive(false);
  }
}
