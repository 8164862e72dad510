import { useQuery } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { faultsAt, isOutdated } from "carrel-sdk";
import { connectionsQuery, GITHUB, useConnections, wordsForTest } from "../../api/github";
import type { GithubConnection } from "../../api/types";
import { useApi, useFormats } from "../../app/context";
import { Button } from "../../components/Button";
import { Confirm, Dialog } from "../../components/Dialog";
import { Empty, ErrorNote, Note } from "../../components/Feedback";
import { TextField } from "../../components/Field";
import { ConnectForm } from "../../components/github/ConnectForm";
import { QueryView } from "../../components/QueryView";
import { toast } from "../../components/Toasts";

/** The repositories that texts come from and go to: tried, changed, disconnected. */
export function ConnectionsPanel() {
  const query = useQuery(connectionsQuery(useApi()));
  const [isAdding, setAdding] = useState(false);
  const add = (
    <Button variant="primary" onPress={() => setAdding(true)}>
      Connect a repository
    </Button>
  );
  return (
    <div className="stack wide">
      <QueryView query={query}>
        {({ items }) =>
          items.length ? (
            <>
              <ul className="card flush">
                {items.map((connection) => (
                  <ConnectionRow key={connection.id} connection={connection} />
                ))}
              </ul>
              <div>{add}</div>
            </>
          ) : (
            <Empty title="No repository is connected" action={add}>
              Texts can come from a repository on GitHub, and answers can go to one, by themselves when a run ends.
            </Empty>
          )
        }
      </QueryView>
      <Dialog title="Connect a repository" isOpen={isAdding} onClose={() => setAdding(false)} wide>
        <ConnectForm
          onDone={() => {
            setAdding(false);
            toast.done("Connected.");
          }}
        />
      </Dialog>
    </div>
  );
}

function ConnectionRow({ connection }: { connection: GithubConnection }) {
  const formats = useFormats();
  const { test, remove } = useConnections();
  const [open, setOpen] = useState<"edit" | "delete">();
  const close = () => setOpen(undefined);
  const { last_test: last } = connection;
  return (
    <li className="list-row stack">
      <div className="row between">
        <div>
          <strong>{connection.name}</strong> <code>…{connection.hint}</code>
          <span className="small dim block">
            {connection.name !== connection.repository && `${connection.repository}, `}
            {connection.branch ? `branch ${connection.branch}` : "the default branch"}
            {connection.base_url !== GITHUB && `, at ${connection.base_url}`}
          </span>
          <span className="small dim block">
            {last
              ? `${last.ok ? "worked" : "failed"} on ${formats.dateTime(last.at)}`
              : "not tried since it was changed"}
          </span>
        </div>
        <div className="row tight">
          <Button
            small
            onPress={() => test.mutate(connection.id)}
            isDisabled={test.isPending}
            aria-label={`Try it: ${connection.name}`}
          >
            {test.isPending ? "Trying…" : "Try it"}
          </Button>
          <Button small onPress={() => setOpen("edit")} aria-label={`Change ${connection.name}`}>
            Change
          </Button>
          <Button small variant="danger" onPress={() => setOpen("delete")} aria-label={`Disconnect ${connection.name}`}>
            Disconnect
          </Button>
        </div>
      </div>
      {test.isError && <ErrorNote error={test.error} />}
      {test.data && (
        <Note tone={!test.data.ok ? "bad" : test.data.can_write === false ? "warn" : "good"} role="status">
          {wordsForTest(test.data)}
        </Note>
      )}
      {open === "edit" && <ChangeDialog connection={connection} onClose={close} />}
      <Confirm
        title="Disconnect this repository?"
        text="Carrel forgets its token. What was imported stays; presets that send answers there need another repository."
        action="Disconnect"
        isOpen={open === "delete"}
        isPending={remove.isPending}
        onClose={close}
        onConfirm={() => remove.mutate(connection.id, { onSettled: close })}
      />
    </li>
  );
}

function ChangeDialog({ connection, onClose }: { connection: GithubConnection; onClose: () => void }) {
  const { change, test } = useConnections();
  const [name, setName] = useState(connection.name);
  const [repository, setRepository] = useState(connection.repository);
  const [branch, setBranch] = useState(connection.branch ?? "");
  const [token, setToken] = useState("");
  const [baseUrl, setBaseUrl] = useState(connection.base_url);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const wanted = {
      name: name.trim(),
      repository: repository.trim(),
      branch: branch.trim() || null,
      token: token.trim() || null,
      base_url: baseUrl.trim() || GITHUB,
    };
    change.mutate(
      { id: connection.id, version: connection.version, change: wanted },
      {
        onSuccess: () => {
          setToken("");
          test.mutate(connection.id);
        },
      },
    );
  };
  const faults = (field: string) => faultsAt(change.error, field);
  return (
    <Dialog title={`Change ${connection.name}`} isOpen onClose={onClose} wide>
      <form className="stack" onSubmit={submit} aria-label="Connection">
        <div className="columns">
          <TextField
            label="Name"
            required
            maxLength={200}
            value={name}
            faults={faults("name")}
            onChange={(event) => setName(event.target.value)}
          />
          <TextField
            label="Repository"
            required
            placeholder="owner/name"
            value={repository}
            faults={faults("repository")}
            onChange={(event) => setRepository(event.target.value)}
          />
          <TextField
            label="Branch"
            placeholder="the repository’s default"
            value={branch}
            faults={faults("branch")}
            onChange={(event) => setBranch(event.target.value)}
          />
          <TextField
            label="New access token"
            type="password"
            placeholder={`the one that ends in ${connection.hint}`}
            value={token}
            faults={faults("token")}
            hint="Only to replace it; another address needs one."
            onChange={(event) => setToken(event.target.value)}
          />
          <TextField
            label="Address of the API"
            type="url"
            value={baseUrl}
            faults={faults("base_url")}
            hint="Only for a GitHub of your own."
            onChange={(event) => setBaseUrl(event.target.value)}
          />
        </div>
        {isOutdated(change.error) ? (
          <Note tone="warn" role="alert">
            It was changed elsewhere meanwhile. Close this dialog, look at the new state, and change it again.
          </Note>
        ) : (
          change.isError && <ErrorNote error={change.error} />
        )}
        {test.data && (
          <Note tone={test.data.ok ? "good" : "bad"} role="status">
            Saved. {wordsForTest(test.data)}
          </Note>
        )}
        <div className="row end">
          <Button onPress={onClose}>{test.data ? "Done" : "Cancel"}</Button>
          <Button
            type="submit"
            variant="primary"
            isDisabled={!name.trim() || !repository.trim() || change.isPending || test.isPending}
          >
            {change.isPending || test.isPending ? "Saving…" : "Save"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
