import { useQuery } from "@tanstack/react-query";
import { FolderGit2 } from "lucide-react";
import { useState } from "react";
import { connectionsQuery, useConnections } from "../../api/github";
import type { ContentType } from "../../api/types";
import { useApi } from "../../app/context";
import { Button } from "../../components/Button";
import { Confirm, Dialog } from "../../components/Dialog";
import { ConnectForm } from "../../components/github/ConnectForm";
import { ConnectionField } from "../../components/github/ConnectionField";
import { QueryView } from "../../components/QueryView";
import { GithubBrowser } from "./GithubBrowser";

/** Files of a repository on GitHub become contents. */
export function GithubButton({ type }: { type: ContentType }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onPress={() => setOpen(true)}>
        <FolderGit2 size={16} aria-hidden /> From GitHub
      </Button>
      <Dialog title="Import from GitHub" isOpen={isOpen} onClose={() => setOpen(false)} wide>
        <Repositories type={type} />
        <div className="row end">
          <Button onPress={() => setOpen(false)}>Close</Button>
        </div>
      </Dialog>
    </>
  );
}

export function Repositories({ type }: { type: ContentType }) {
  const query = useQuery(connectionsQuery(useApi()));
  const { remove } = useConnections();
  const [wanted, setWanted] = useState<string>();
  const [isAdding, setAdding] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const added = (connectionId: string) => {
    setWanted(connectionId);
    setAdding(false);
  };
  return (
    <QueryView query={query}>
      {({ items }) => {
        const shown = items.find((connection) => connection.id === wanted) ?? items[0];
        if (!shown) return <ConnectForm onDone={added} />;
        return (
          <div className="stack">
            <div className="row">
              <ConnectionField label="Repository" hideLabel connections={items} value={shown.id} onChange={setWanted} />
              <Button small onPress={() => setAdding(!isAdding)}>
                {isAdding ? "Cancel" : "Connect another"}
              </Button>
              <Button small variant="danger" onPress={() => setAsking(true)}>
                Disconnect
              </Button>
            </div>
            {isAdding ? (
              <ConnectForm onDone={added} />
            ) : (
              <GithubBrowser key={shown.id} connectionId={shown.id} type={type} />
            )}
            <Confirm
              title="Disconnect this repository?"
              text="Carrel forgets its token. What was imported stays."
              action="Disconnect"
              isOpen={isAsking}
              onClose={() => setAsking(false)}
              onConfirm={() => remove.mutate(shown.id, { onSettled: () => setAsking(false) })}
            />
          </div>
        );
      }}
    </QueryView>
  );
}
