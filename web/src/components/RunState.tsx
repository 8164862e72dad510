import type { RunState as State } from "../api/types";
import { toneOfRun, wordsForRun } from "../lib/states";

/** The state of a run as a word and a colour, never a colour alone. */
export function RunState({ state }: { state: State }) {
  return (
    <span className={`chip ${toneOfRun(state)}`}>
      <span className={`dot ${state === "running" ? "pulse" : ""}`} aria-hidden />
      {wordsForRun(state)}
    </span>
  );
}
