/** The live state of a run, added up from its events: tasks done by phase, their rate, and the last log lines. */
import type { ServerEvent } from "carrel-sdk";
import type { Entry, Kind, RunSummary } from "../../api/types";
import { noPlaces, type Places, withEvents } from "../../lib/liveAnswers";

export interface LiveView {
  isLive: boolean;
  /** Tasks of the present round that are decided, by phase. */
  done: Readonly<Record<Kind, number>>;
  failed: number;
  perSecond: number | undefined;
  /** The newest last. */
  entries: readonly Entry[];
  /** Answers while models write them. */
  answers: Places;
}

const PLACES = 3;
const KEPT_ENTRIES = 2000;
const WINDOW_MS = 20_000;
const OVER = new Set<Entry["event"]>(["task-succeeded", "task-decided", "task-failed", "task-skipped"]);
const NOTHING: Record<Kind, number> = { generate: 0, score: 0, compare: 0, combine: 0 };

export const NO_VIEW: LiveView = {
  isLive: false,
  done: NOTHING,
  failed: 0,
  perSecond: undefined,
  entries: [],
  answers: noPlaces(PLACES),
};

export class LiveRun {
  private view: LiveView = NO_VIEW;
  /** What became of each task, by its key. */
  private outcomes = new Map<string, { kind: Kind; hasFailed: boolean }>();
  private entries: Entry[] = [];
  private samples: { at: number; done: number }[] = [];
  private readonly listeners = new Set<() => void>();

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly current = (): LiveView => this.view;

  setLive(isLive: boolean): void {
    if (this.view.isLive === isLive) return;
    this.view = { ...this.view, isLive };
    this.tell();
  }

  /** Log rows in their order, each once, and the summary that came with them. */
  add(entries: readonly Entry[], summary: RunSummary | undefined, now: number): void {
    for (const entry of entries) this.take(entry);
    this.entries = [...this.entries, ...entries].slice(-KEPT_ENTRIES);
    if (summary) this.sample(summary, now);
    this.view = { ...this.view, ...this.counted(), perSecond: this.rate(), entries: this.entries };
    this.tell();
  }

  /** Parts of answers, and the ends of tasks, in their order. */
  hear(events: readonly ServerEvent[], now: number): void {
    const answers = withEvents(this.view.answers, events, now);
    if (answers === this.view.answers) return;
    this.view = { ...this.view, answers };
    this.tell();
  }

  private take(entry: Entry): void {
    // A new round judges the same answers anew, under keys of its own.
    if (entry.event === "round-started") this.outcomes.clear();
    if (entry.task_key && entry.kind && OVER.has(entry.event))
      this.outcomes.set(entry.task_key, { kind: entry.kind, hasFailed: entry.event === "task-failed" });
  }

  private counted(): { done: Record<Kind, number>; failed: number } {
    const done = { ...NOTHING };
    let failed = 0;
    for (const { kind, hasFailed } of this.outcomes.values()) {
      done[kind] += 1;
      if (hasFailed) failed += 1;
    }
    return { done, failed };
  }

  private sample({ progress }: RunSummary, now: number): void {
    const { succeeded, failed, skipped } = progress;
    this.samples = [
      ...this.samples.filter(({ at }) => now - at < WINDOW_MS),
      { at: now, done: succeeded + failed + skipped },
    ];
  }

  private rate(): number | undefined {
    const [first, last] = [this.samples[0], this.samples.at(-1)];
    if (!first || !last || last.at - first.at < 1000) return undefined;
    return Math.max(0, ((last.done - first.done) * 1000) / (last.at - first.at));
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }
}
