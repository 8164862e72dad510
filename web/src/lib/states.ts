/** The words and colours of states and phases. */
import type { Kind, RunState, RunSummary, Task } from "../api/types";

interface Shown {
  words: string;
  tone: string;
  ended: boolean;
}

/** Every state of a run, in the order of its life. */
const RUNS: Record<RunState, Shown> = {
  pending: { words: "Not started", tone: "", ended: false },
  running: { words: "Running", tone: "info", ended: false },
  paused: { words: "Paused", tone: "warn", ended: false },
  completed: { words: "Completed", tone: "good", ended: true },
  completed_with_errors: { words: "Completed, with errors", tone: "warn", ended: true },
  failed: { words: "Failed", tone: "bad", ended: true },
  cancelled: { words: "Cancelled", tone: "", ended: true },
};

export const RUN_STATES = Object.keys(RUNS) as readonly RunState[];

export function wordsForRun(state: RunState): string {
  return RUNS[state].words;
}

export function toneOfRun(state: RunState): string {
  return RUNS[state].tone;
}

export function hasEnded(state: RunState): boolean {
  return RUNS[state].ended;
}

/** It ended with a ranking, perhaps not of everything. */
export function hasResult(state: RunState): boolean {
  return state === "completed" || state === "completed_with_errors";
}

const PAUSES: Record<NonNullable<RunSummary["pause_reason"]>, string> = {
  user: "You paused it; it waits for you.",
  budget: "Its next call could cost more than is left of its budget.",
  credits: "Your credits are used up.",
  "unknown-costs": "Calls were lost, and nobody knows what they cost.",
  provider: "A provider answers nothing. The run tries again every half a minute, and goes on by itself.",
  quota: "The operator of the service allows no more calls of models today.",
  "key-absent": "The service no longer has your key in its memory. The run continues by itself when you sign in.",
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
  compare: "Pairs",
  combine: "Combining",
};

export function wordsForPhase(phase: Kind): string {
  return PHASE_WORDS[phase];
}

const TASK_WORDS: Record<Task["state"], string> = {
  pending: "Waiting",
  running: "Under way",
  succeeded: "Succeeded",
  failed: "Failed",
  skipped: "Skipped",
  cancelled: "Cancelled",
};

export const TASK_STATES = Object.keys(TASK_WORDS) as readonly Task["state"][];

export function wordsForTask(state: Task["state"]): string {
  return TASK_WORDS[state];
}

const KIND_WORDS: Record<Kind, string> = {
  generate: "Answer",
  score: "Score",
  compare: "Pair",
  combine: "Combined answer",
};

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
