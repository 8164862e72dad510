/** What states and phases are called, and how they look. */
import type { Kind, RunState, RunSummary, Task } from "../api/types";

export const RUN_STATES: readonly RunState[] = ["pending", "running", "paused", "completed", "completed_with_errors", "failed", "cancelled"];

const RUN_WORDS: Record<RunState, string> = {
  pending: "Not started",
  running: "Running",
  paused: "Paused",
  completed: "Completed",
  completed_with_errors: "Completed, with errors",
  failed: "Failed",
  cancelled: "Cancelled",
};

const RUN_TONES: Record<RunState, string> = {
  pending: "",
  running: "info",
  paused: "warn",
  completed: "good",
  completed_with_errors: "warn",
  failed: "bad",
  cancelled: "",
};

export function wordsForRun(state: RunState): string {
  return RUN_WORDS[state];
}

export function toneOfRun(state: RunState): string {
  return RUN_TONES[state];
}

const ENDED = new Set<RunState>(["completed", "completed_with_errors", "failed", "cancelled"]);

export function hasEnded(state: RunState): boolean {
  return ENDED.has(state);
}

const PAUSES: Record<NonNullable<RunSummary["pause_reason"]>, string> = {
  user: "You paused it; it waits for you.",
  budget: "Its budget is used up.",
  credits: "Your credits are used up.",
  "key-absent": "Your key left the service's memory: it goes on by itself once you have signed in.",
  "service-stopped": "The service was stopped.",
  "service-restarted": "The service was restarted.",
  membership: "It needs a paid membership.",
};

export function wordsForPause(reason: NonNullable<RunSummary["pause_reason"]>): string {
  return PAUSES[reason];
}

export const PHASES: readonly Kind[] = ["generate", "score", "compare", "combine"];

const PHASE_WORDS: Record<Kind, string> = {
  generate: "Answers",
  score: "Scores",
  compare: "Comparisons",
  combine: "Combining",
};

export function wordsForPhase(phase: Kind): string {
  return PHASE_WORDS[phase];
}

export const TASK_STATES: readonly Task["state"][] = ["pending", "running", "succeeded", "failed", "skipped", "cancelled"];

const TASK_WORDS: Record<Task["state"], string> = {
  pending: "Waiting",
  running: "Under way",
  succeeded: "Succeeded",
  failed: "Failed",
  skipped: "Skipped",
  cancelled: "Cancelled",
};

export function wordsForTask(state: Task["state"]): string {
  return TASK_WORDS[state];
}

const KIND_WORDS: Record<Kind, string> = { generate: "Answer", score: "Score", compare: "Comparison", combine: "Combined answer" };

/** One task of a phase. */
export function wordsForKind(kind: Kind): string {
  return KIND_WORDS[kind];
}

const TASK_TONES: Record<Task["state"], string> = {
  pending: "",
  running: "info",
  succeeded: "good",
  failed: "bad",
  skipped: "warn",
  cancelled: "",
};

export function toneOfTask(state: Task["state"]): string {
  return TASK_TONES[state];
}
