/** What takes more than one request: waiting for a run, and following its events. */
import { WaitTimeout } from "./errors.js";
import { follow, type Following } from "./events.js";
import { type Client, data } from "./routes.js";
import type { components } from "./schema.js";
import { pause, type SignIn, type Transport } from "./transport.js";

type Run = components["schemas"]["Run"];

const FIRST_POLL_MS = 100;
const LONGEST_POLL_MS = 2000;
const HALTED: ReadonlySet<Run["state"]> = new Set<Run["state"]>([
  "paused",
  "completed",
  "completed_with_errors",
  "failed",
  "cancelled",
]);

export interface RunEvent {
  id: number | undefined;
  kind: string;
  /** What the service says: the run for `progress` and `end`, an entry of its log for the others. */
  value: unknown;
}

export class Runs {
  constructor(
    private readonly transport: Transport,
    private readonly signIn: SignIn,
    private readonly client: Client,
  ) {}

  /**
   * The run when it has ended or paused; its `state` and `pause_reason` say which. Throws `WaitTimeout` if it has done
   * neither within `timeoutSeconds`.
   */
  async wait(runId: string, options: { timeoutSeconds?: number; signal?: AbortSignal } = {}): Promise<Run> {
    const { timeoutSeconds = Infinity, signal } = options;
    const deadline = Date.now() + timeoutSeconds * 1000;
    for (let poll = FIRST_POLL_MS; ; poll = Math.min(poll * 1.5, LONGEST_POLL_MS)) {
      const params = { path: { run_id: runId } };
      const run = await data(this.client.GET("/api/runs/{run_id}", { params, ...(signal ? { signal } : {}) }));
      // A run that pauses because a provider answers nothing goes on by itself.
      if (HALTED.has(run.state) && run.pause_reason !== "provider") return run;
      const left = deadline - Date.now();
      if (left <= 0) throw new WaitTimeout(runId);
      await pause(Math.min(poll, left), signal);
    }
  }

  /** The events of the run so far, and then new ones until it has ended. A broken connection is taken up again. */
  async *events(runId: string, following: Following = {}): AsyncGenerator<RunEvent, void, undefined> {
    const path = `/api/runs/${encodeURIComponent(runId)}/events`;
    for await (const events of follow(this.transport, this.signIn, path, following)) {
      for (const { id, event, data: text } of events) yield { id, kind: event, value: JSON.parse(text) as unknown };
    }
  }
}
