import type { Run } from "../../api/types";
import { SendDialog } from "../../components/github/SendDialog";

/** The answers of a run, to a repository. */
export function SendToGithub({ run, onClose }: { run: Run; onClose: () => void }) {
  const { output } = run.configuration;
  return (
    <SendDialog
      title="Send the answers to GitHub"
      what={{ run: run.id }}
      wished={output?.destination === "github" ? output : undefined}
      message={`Add the answers of “${run.name}”`}
      onClose={onClose}
    />
  );
}
