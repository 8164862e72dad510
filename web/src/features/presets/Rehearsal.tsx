import { ErrorNote, Note, Spinner } from "../../components/Feedback";
import { Estimate } from "./Estimate";
import { openVariables } from "./ExecuteDialog";
import type { Rehearsed } from "./useRehearsal";

/** The estimate of what is being written, or why there is none. */
export function Rehearsal({ rehearsal: { data, error, isOld, retry } }: { rehearsal: Rehearsed }) {
  const open = openVariables(error);
  if (open.length)
    return <Note>A run asks for the text of {open.join(", ")}. What it takes is told when you start it.</Note>;
  if (error) return <ErrorNote error={error} onRetry={retry} />;
  if (!data) return <Spinner label="Counting" />;
  return (
    <div className="stack" aria-busy={isOld}>
      <Estimate estimate={data} />
      {isOld && <Spinner label="Counting anew" />}
    </div>
  );
}
