import { isOutdated } from "carrel-sdk";
import { Button } from "../../components/Button";
import { EditGuard } from "../../components/EditGuard";
import { ErrorNote, Note } from "../../components/Feedback";
import type { Keeping } from "./useKeeping";

/** Beside the title: whether what is unfinished is kept as a draft. */
export function KeptSign({ keeping: { state } }: { keeping: Keeping }) {
  if (state === "none") return null;
  return state === "kept" ? <span className="chip">draft saved</span> : <span className="chip warn">not saved</span>;
}

interface Props {
  keeping: Keeping;
  /** Ctrl+S or ⌘S saves, if it can be saved. */
  onSave?: (() => void) | undefined;
}

/** Why a draft could not be kept; then leaving the page asks first. */
export function KeptGuard({ keeping: { state, error, again }, onSave }: Props) {
  return (
    <>
      <EditGuard draft={{ isDirty: state === "failed" }} isUnderWay={state === "waiting"} onSave={onSave} />
      {state === "failed" &&
        (isOutdated(error) ? (
          <Note tone="warn" role="alert">
            <p>
              <strong>This draft was changed or finished in another tab meanwhile.</strong> What you entered here is
              still on this page.
            </p>
            <div>
              <Button small onPress={again}>
                Keep this one
              </Button>
            </div>
          </Note>
        ) : (
          <ErrorNote error={error} onRetry={again} />
        ))}
    </>
  );
}
