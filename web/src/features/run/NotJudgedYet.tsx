import type { Run } from "../../api/types";
import { Empty } from "../../components/Feedback";

/** Shown in place of results while there are no judgements. */
export function NotJudgedYet({ run }: { run: Run }) {
  return (
    <Empty title="There are no judgements yet">
      {run.state === "pending"
        ? "They come once the run is started."
        : "This page fills with the first judgements, and stays up to date."}
    </Empty>
  );
}
