/** Whether the service can be reached. While it cannot, its open health route is asked until it answers. */

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 10_000;

export class Connection {
  private up = true;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly listeners = new Set<() => void>();

  constructor(private readonly healthUrl: string) {}

  get isUp(): boolean {
    return this.up;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** A request got an answer, whatever it says. */
  succeeded(): void {
    if (this.up) return;
    this.up = true;
    clearTimeout(this.timer);
    this.tell();
  }

  /** A request got none. */
  failed(): void {
    if (!this.up) return;
    this.up = false;
    this.tell();
    this.ask(FIRST_WAIT_MS);
  }

  /** Something could not be fetched: resolves when the service answers, at once if it does already. */
  async afterFailure(): Promise<void> {
    this.failed();
    await new Promise<void>((resolve) => {
      const stop = this.subscribe(() => {
        if (!this.up) return;
        stop();
        resolve();
      });
    });
  }

  /** Ask at once, for the user does not want to wait. */
  retry(): void {
    clearTimeout(this.timer);
    this.ask(0);
  }

  private ask(waitMs: number): void {
    this.timer = setTimeout(() => {
      fetch(this.healthUrl, { cache: "no-store" }).then(
        () => this.succeeded(),
        () => this.ask(Math.min(LONGEST_WAIT_MS, Math.max(FIRST_WAIT_MS, waitMs * 1.5))),
      );
    }, waitMs);
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }
}
