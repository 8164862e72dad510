import { useState } from "react";
import type { GithubConnection, Output, PresetIn } from "../../api/types";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { Note } from "../../components/Feedback";
import { SelectField, TextField } from "../../components/Field";
import { ConnectForm } from "../../components/github/ConnectForm";
import { ConnectionField } from "../../components/github/ConnectionField";

interface Props {
  draft: PresetIn;
  change: (part: Partial<PresetIn>) => void;
  at: (path: string) => string[];
  connections: readonly GithubConnection[];
}

const PLACES: Record<NonNullable<Output["destination"]>, string> = {
  none: "The run only",
  library: "The library too",
  github: "GitHub too",
};

/** Where answers go by themselves when a run ends. */
export function OutputPart({ draft, change, at, connections }: Props) {
  const output = draft.output ?? {};
  const [isConnecting, setConnecting] = useState(false);
  const destination = output.destination ?? "none";
  const set = (part: Partial<Output>) => change({ output: { ...output, ...part } });
  const choose = (next: string) => {
    const answers = output.answers ?? "best";
    if (next === "github")
      change({ output: { destination: "github", answers, connection: connections[0]?.id ?? null } });
    // The service refuses a repository if the answers do not go to one.
    else change({ output: { destination: next === "library" ? "library" : "none", answers } });
  };
  return (
    <section className="card stack" aria-labelledby="output-title" data-part="output">
      <h2 id="output-title">Where the answers go</h2>
      <div className="columns">
        <SelectField
          label="Answers go to"
          value={destination}
          faults={at("output.destination")}
          onChange={(event) => choose(event.target.value)}
        >
          {Object.entries(PLACES).map(([place, words]) => (
            <option key={place} value={place}>
              {words}
            </option>
          ))}
        </SelectField>
        {destination !== "none" && (
          <SelectField
            label="Which answers"
            value={output.answers ?? "best"}
            faults={at("output.answers")}
            onChange={(event) => set({ answers: event.target.value === "all" ? "all" : "best" })}
          >
            <option value="best">Those of the best candidate</option>
            <option value="all">Everybody’s</option>
          </SelectField>
        )}
      </div>
      {destination === "github" && connections.length > 0 && (
        <div className="columns">
          <ConnectionField
            label="Repository"
            connections={connections}
            value={output.connection ?? ""}
            none="Choose"
            faults={at("output.connection")}
            onChange={(id) => set({ connection: id || null })}
          />
          <TextField
            label="Folder"
            placeholder="the repository’s root"
            maxLength={500}
            value={output.path ?? ""}
            faults={at("output.path")}
            onChange={(event) => set({ path: event.target.value })}
          />
          <TextField
            label="Branch"
            placeholder="the connection’s own"
            hint="A branch that does not exist is created."
            maxLength={200}
            value={output.branch ?? ""}
            faults={at("output.branch")}
            onChange={(event) => set({ branch: event.target.value || null })}
          />
        </div>
      )}
      {destination === "github" && (
        <div className="row">
          {connections.length === 0 && <p>No repository is connected yet.</p>}
          <Button small onPress={() => setConnecting(true)}>
            {connections.length ? "Connect another" : "Connect a repository"}
          </Button>
        </div>
      )}
      <Dialog title="Connect a repository" isOpen={isConnecting} onClose={() => setConnecting(false)} wide>
        <ConnectForm
          onDone={(connection) => {
            set({ connection });
            setConnecting(false);
          }}
        />
      </Dialog>
      {destination === "github" && (
        <Note>
          When a run ends, its answers go there as one commit. If that fails the run itself is not affected: it says so,
          and they can be sent again.
        </Note>
      )}
    </section>
  );
}
