import type { Run } from "../../api/types";
import { Empty } from "../../components/Feedback";

/** In place of what follows from judgements, while there are none. */
export function NotJudgedYet({ run }: { run: Run }) {
  return (
    <Empty title="The judges have not spoken yet">
      {run.state === "pending"
        ? "They do once the run is started."
        : "This fills with their first words, and is kept up to date."}
    </Empty>
  );
}
