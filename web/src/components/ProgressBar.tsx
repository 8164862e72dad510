import type { Progress } from "../api/types";

/** How far a run is: what succeeded, what failed, what was left out. */
export function ProgressBar({ progress, label }: { progress: Progress; label: string }) {
  const part = (count: number) => `${progress.total ? (100 * count) / progress.total : 0}%`;
  return (
    <div
      className="progress"
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={progress.percent}
    >
      <i style={{ width: part(progress.succeeded) }} />
      <i className="bad" style={{ width: part(progress.failed) }} />
      <i className="skip" style={{ width: part(progress.skipped + progress.cancelled) }} />
    </div>
  );
}
