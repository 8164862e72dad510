import { expect, test } from "vitest";
import type { Entry, RunSummary } from "../../api/types";
import { LiveRun } from "./liveRun";

function entry(seq: number, event: Entry["event"], kind: Entry["kind"], task_key: string | null): Entry {
  return {
    seq,
    event,
    task_key,
    kind,
    at: "2026-01-01T00:00:00Z",
    level: "info",
    state: null,
    code: null,
    model: null,
    attempt: null,
    latency_ms: null,
    input_tokens: null,
    output_tokens: null,
  };
}

function summary(succeeded: number): RunSummary {
  return {
    progress: {
      total: 100,
      pending: 0,
      running: 0,
      succeeded,
      failed: 0,
      skipped: 0,
      cancelled: 0,
      percent: 0,
      eta_seconds: null,
    },
  } as RunSummary;
}

test("tasks are counted by phase, and each only once however often it is told", () => {
  const live = new LiveRun();
  live.add(
    [
      entry(1, "task-succeeded", "generate", "r1.generate.d1.c1.s1"),
      entry(2, "attempt-failed", "generate", "r1.generate.d1.c2.s1"),
      entry(3, "task-failed", "generate", "r1.generate.d1.c2.s1"),
    ],
    undefined,
    0,
  );
  live.add(
    [
      entry(4, "task-succeeded", "generate", "r1.generate.d1.c2.s1"),
      entry(5, "task-decided", "compare", "r1.compare.d1.c1-c2.s1.j1.ab"),
    ],
    undefined,
    0,
  );
  expect(live.current().done).toEqual({ generate: 2, score: 0, compare: 1, combine: 0 });
  expect(live.current().failed).toBe(0);
});

test("the phase of a task is what the service says it is, whatever its key looks like", () => {
  const live = new LiveRun();
  live.add([entry(1, "task-succeeded", "combine", "d1.c1.of-another-form")], undefined, 0);
  expect(live.current().done).toEqual({ generate: 0, score: 0, compare: 0, combine: 1 });
});

test("a new round begins to count anew", () => {
  const live = new LiveRun();
  live.add(
    [
      entry(1, "task-succeeded", "score", "r1.score.d1.c1.s1.j1.s1"),
      entry(2, "round-started", null, null),
      entry(3, "task-succeeded", "score", "r2.score.d1.c1.s1.j1.s1"),
    ],
    undefined,
    0,
  );
  expect(live.current().done.score).toBe(1);
});

test("the rate is that of the last moments, not of the whole run", () => {
  const live = new LiveRun();
  live.add([], summary(0), 0);
  expect(live.current().perSecond).toBeUndefined();
  live.add([], summary(100), 10_000);
  expect(live.current().perSecond).toBe(10);
  live.add([], summary(100), 29_000);
  expect(live.current().perSecond).toBe(0);
});
