import { type SubmitEvent, useState } from "react";
import { faultsAt } from "carrel-sdk";
import { GITHUB, useConnections, wordsForTest } from "../../api/github";
import { Button } from "../Button";
import { ErrorNote, Note } from "../Feedback";
import { TextField } from "../Field";

/** Connects a repository, and tries the token at once. */
export function ConnectForm({ onDone }: { onDone: (connectionId: string) => void }) {
  const { connect } = useConnections();
  const [repository, setRepository] = useState("");
  const [token, setToken] = useState("");
  const [branch, setBranch] = useState("");
  const [baseUrl, setBaseUrl] = useState("");
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const name = repository.trim();
    connect.mutate(
      {
        name,
        repository: name,
        token: token.trim(),
        branch: branch.trim() || null,
        base_url: baseUrl.trim() || GITHUB,
      },
      {
        onSuccess: ({ made, test }) => {
          if (!test.ok) return;
          setToken("");
          onDone(made.id);
        },
      },
    );
  };
  const refused = connect.data && !connect.data.test.ok ? connect.data.test : undefined;
  return (
    <form className="stack" onSubmit={submit} aria-label="Connect a repository">
      <div className="columns">
        <TextField
          label="Repository"
          required
          placeholder="owner/name"
          value={repository}
          faults={faultsAt(connect.error, "repository")}
          onChange={(event) => setRepository(event.target.value)}
        />
        <TextField
          label="Access token"
          type="password"
          required
          value={token}
          faults={faultsAt(connect.error, "token")}
          hint="A fine-grained token for this repository: “Contents: read”, or “read and write” to send texts there. Kept in your encrypted workspace and never shown again."
          onChange={(event) => setToken(event.target.value)}
        />
        <TextField
          label="Branch"
          placeholder="the repository’s default"
          value={branch}
          faults={faultsAt(connect.error, "branch")}
          onChange={(event) => setBranch(event.target.value)}
        />
        <TextField
          label="Address of the API"
          type="url"
          placeholder={GITHUB}
          value={baseUrl}
          faults={faultsAt(connect.error, "base_url")}
          hint="Only for a GitHub of your own."
          onChange={(event) => setBaseUrl(event.target.value)}
        />
      </div>
      {connect.isError && <ErrorNote error={connect.error} />}
      {refused && (
        <Note tone="bad" role="alert">
          <p>{wordsForTest(refused)}</p>
          <p className="small">{refused.code && <code>{refused.code}</code>} Nothing was stored.</p>
        </Note>
      )}
      <div className="row end">
        <Button type="submit" variant="primary" isDisabled={!repository.trim() || !token.trim() || connect.isPending}>
          {connect.isPending ? "Connecting…" : "Connect"}
        </Button>
      </div>
    </form>
  );
}
