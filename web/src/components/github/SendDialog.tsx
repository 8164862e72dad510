import { useQuery } from "@tanstack/react-query";
import { type ReactNode, type SubmitEvent, useState } from "react";
import { faultsAt } from "carrel-sdk";
import { commitUrl, connectionsQuery, useSend } from "../../api/github";
import type { GithubConnection, ExportedTo, ExportIn, Output } from "../../api/types";
import { useApi, useFormats } from "../../app/context";
import { branchFault, folderFault } from "../../lib/gitNames";
import { Button } from "../Button";
import { Dialog } from "../Dialog";
import { Note, Spinner } from "../Feedback";
import { SelectField, TextField } from "../Field";
import { QueryView } from "../QueryView";
import { ConnectForm } from "./ConnectForm";
import { ConnectionField } from "./ConnectionField";
import { GithubError } from "./GithubError";

/** Either contents by their ids, or the answers of a run. */
export type What = { contents: string[] } | { run: string };

interface Props {
  title: string;
  what: What;
  /** The repository that the run itself should send them to, if any. */
  wished?: Output | undefined;
  message: string;
  onClose: () => void;
  onSent?: () => void;
}

/** Sends texts to a repository as one commit. */
export function SendDialog({ title, what, wished, message, onClose, onSent }: Props) {
  const query = useQuery(connectionsQuery(useApi()));
  const [wanted, setWanted] = useState(wished?.connection ?? undefined);
  const [isAdding, setAdding] = useState(false);
  const [sent, setSent] = useState<ExportedTo>();
  const added = (connectionId: string) => {
    setWanted(connectionId);
    setAdding(false);
  };
  return (
    <Dialog title={title} isOpen onClose={onClose} wide>
      <QueryView query={query}>
        {({ items }) => {
          const chosen = items.find((connection) => connection.id === wanted) ?? items[0];
          if (!chosen || isAdding)
            return (
              <>
                {!chosen && (
                  <p>No repository is connected yet. Texts go there as one commit; nothing else in it changes.</p>
                )}
                <ConnectForm onDone={added} />
                {chosen && (
                  <div>
                    <Button small onPress={() => setAdding(false)}>
                      Cancel
                    </Button>
                  </div>
                )}
                <Closing onClose={onClose} />
              </>
            );
          if (sent)
            return (
              <>
                <Sent connection={chosen} sent={sent} />
                <Closing onClose={onClose} />
              </>
            );
          const done = (result: ExportedTo) => {
            setSent(result);
            onSent?.();
          };
          return (
            <SendForm
              key={chosen.id}
              connection={chosen}
              what={what}
              wished={wished}
              message={message}
              onSent={done}
              onClose={onClose}
            >
              <div className="row end-aligned">
                <div className="grow">
                  <ConnectionField label="Repository" connections={items} value={chosen.id} onChange={setWanted} />
                </div>
                <Button onPress={() => setAdding(true)}>Connect another</Button>
              </div>
            </SendForm>
          );
        }}
      </QueryView>
    </Dialog>
  );
}

function Closing({ onClose }: { onClose: () => void }) {
  return (
    <div className="row end">
      <Button onPress={onClose}>Close</Button>
    </div>
  );
}

interface FormProps extends Pick<Props, "what" | "wished" | "message" | "onClose"> {
  connection: GithubConnection;
  children: ReactNode;
  onSent: (sent: ExportedTo) => void;
}

function SendForm({ connection, what, wished, message, onSent, onClose, children }: FormProps) {
  const send = useSend(connection.id);
  const isWished = wished?.connection === connection.id;
  const [branch, setBranch] = useState(isWished ? (wished.branch ?? "") : "");
  const [path, setPath] = useState(isWished ? (wished.path ?? "") : "");
  const [answers, setAnswers] = useState<NonNullable<ExportIn["answers"]>>(wished?.answers ?? "best");
  const [words, setWords] = useState(message);
  const faults = { path: folderFault(path.trim()), branch: branchFault(branch.trim()) };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const place = { path: path.trim(), branch: branch.trim() || null, message: words.trim() || message };
    send.mutate("run" in what ? { ...place, run: what.run, answers } : { ...place, contents: what.contents }, {
      onSuccess: onSent,
    });
  };
  const isReady = !faults.path && !faults.branch && !send.isPending;
  return (
    <form className="stack" onSubmit={submit} aria-label="Where the texts go">
      {children}
      <div className="columns">
        <TextField
          label="Folder"
          placeholder="the repository’s root"
          value={path}
          maxLength={500}
          faults={[...one(faults.path), ...faultsAt(send.error, "path")]}
          onChange={(event) => setPath(event.target.value)}
        />
        <TextField
          label="Branch"
          placeholder={connection.branch ?? "the repository’s default"}
          hint="A branch that does not exist is created."
          value={branch}
          maxLength={200}
          faults={[...one(faults.branch), ...faultsAt(send.error, "branch")]}
          onChange={(event) => setBranch(event.target.value)}
        />
        {"run" in what && (
          <SelectField
            label="Answers"
            value={answers}
            onChange={(event) => setAnswers(event.target.value === "all" ? "all" : "best")}
          >
            <option value="best">Those of whoever leads</option>
            <option value="all">Everybody’s</option>
          </SelectField>
        )}
        <TextField
          label="Commit message"
          value={words}
          maxLength={1000}
          faults={faultsAt(send.error, "message")}
          onChange={(event) => setWords(event.target.value)}
        />
      </div>
      <Note>What you send leaves your encrypted workspace: everybody who may read the repository can read it.</Note>
      {send.isError && <GithubError error={send.error} />}
      <div className="row end">
        {send.isPending && <Spinner label="Sending; a large commit may take a minute or two" />}
        <Button onPress={onClose}>Close</Button>
        <Button type="submit" variant="primary" isDisabled={!isReady}>
          Send
        </Button>
      </div>
    </form>
  );
}

function Sent({ connection, sent }: { connection: GithubConnection; sent: ExportedTo }) {
  const formats = useFormats();
  const url = commitUrl(connection, sent.commit);
  const short = <code>{sent.commit.slice(0, 12)}</code>;
  const files = formats.counted(sent.files.length, "file");
  return (
    <Note tone="good" role="status">
      <p>
        {sent.changed
          ? `${files} went to `
          : `${files} ${sent.files.length === 1 ? "was" : "were"} there already, as they are: nothing changed in `}
        <strong>{connection.repository}</strong>, branch <strong>{sent.branch}</strong>
        {sent.new_branch && ", which is new"}.
      </p>
      <p>
        Commit{" "}
        {url ? (
          <a href={url} target="_blank" rel="noopener noreferrer">
            {short}
          </a>
        ) : (
          short
        )}
      </p>
      <details>
        <summary>{files}</summary>
        <ul className="small picker tall">
          {sent.files.map((file) => (
            <li key={file} className="picker-line">
              {file}
            </li>
          ))}
        </ul>
      </details>
    </Note>
  );
}

function one(fault: string | undefined): string[] {
  return fault ? [fault] : [];
}
