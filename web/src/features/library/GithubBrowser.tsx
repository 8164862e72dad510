import { useQuery } from "@tanstack/react-query";
import { File, Folder } from "lucide-react";
import { useState } from "react";
import type { ContentType, TreeEntry } from "../../api/types";
import { useApi, useFormats } from "../../app/context";
import { Button } from "../../components/Button";
import { ErrorNote, Note } from "../../components/Feedback";
import { SelectField } from "../../components/Field";
import { QueryView } from "../../components/QueryView";
import { MOST_FILES, treeQuery, useImport, whyNot } from "./github";
import { TYPES, typeOf } from "../../lib/contentTypes";

interface Props {
  connectionId: string;
  type: ContentType;
}

/** The folders of a repository; files are chosen across folders and imported together. */
export function GithubBrowser({ connectionId, type }: Props) {
  const [path, setPath] = useState("");
  const [commit, setCommit] = useState<string>();
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [kind, setKind] = useState(type);
  const query = useQuery(treeQuery(useApi(), connectionId, path, commit));
  const take = useImport(connectionId);
  const open = (folder: string, at: string) => {
    setCommit(at);
    setPath(folder);
  };
  const toggle = (file: string) =>
    setChosen(chosen.includes(file) ? chosen.filter((other) => other !== file) : [...chosen, file]);
  const start = (at: string) =>
    take.mutate({ paths: [...chosen], type: kind, commit: at }, { onSuccess: () => setChosen([]) });
  return (
    <div className="stack">
      <Crumbs path={path} onOpen={setPath} />
      <QueryView query={query}>
        {(tree) => (
          <>
            <ul className="picker tall" aria-label="Files and folders">
              {tree.entries.map((entry) => (
                <li key={entry.path}>
                  <Line
                    entry={entry}
                    isChosen={chosen.includes(entry.path)}
                    onOpen={() => open(entry.path, tree.commit)}
                    onToggle={() => toggle(entry.path)}
                  />
                </li>
              ))}
              {tree.entries.length === 0 && <li className="picker-line dim">Nothing is in this folder.</li>}
            </ul>
            {tree.truncated && <Note tone="warn">GitHub did not list all of this folder.</Note>}
            <div className="row end">
              <p className="small grow" role="status">
                <strong className="num">{chosen.length}</strong> chosen
                {chosen.length > MOST_FILES && `; at most ${MOST_FILES} at a time`}
              </p>
              <SelectField
                label="Import as"
                hideLabel
                value={kind}
                onChange={(event) => setKind(typeOf(event.target.value) ?? kind)}
              >
                {TYPES.map(([value, label]) => (
                  <option key={value} value={value}>
                    {label}
                  </option>
                ))}
              </SelectField>
              <Button
                variant="primary"
                onPress={() => start(tree.commit)}
                isDisabled={!chosen.length || chosen.length > MOST_FILES || take.isPending}
              >
                {take.isPending ? "Importing…" : "Import"}
              </Button>
            </div>
          </>
        )}
      </QueryView>
      {take.isError && <ErrorNote error={take.error} />}
      {take.data && take.data.refused.length > 0 && (
        <Note tone="warn" role="alert">
          <ul>
            {take.data.refused.map((file) => (
              <li key={file.path}>
                <strong>{file.path}</strong> {whyNot(file.code)}
              </li>
            ))}
          </ul>
        </Note>
      )}
      {take.data && (
        <p className="small" role="status">
          {take.data.imported.length} imported.
        </p>
      )}
    </div>
  );
}

function Crumbs({ path, onOpen }: { path: string; onOpen: (path: string) => void }) {
  const parts = path ? path.split("/") : [];
  return (
    <nav className="row tight" aria-label="Folder">
      <Button small variant="quiet" onPress={() => onOpen("")} isDisabled={!path}>
        All files
      </Button>
      {parts.map((part, index) => {
        const here = parts.slice(0, index + 1).join("/");
        return (
          <Button key={here} small variant="quiet" onPress={() => onOpen(here)} isDisabled={here === path}>
            / {part}
          </Button>
        );
      })}
    </nav>
  );
}

function Line({
  entry,
  isChosen,
  onOpen,
  onToggle,
}: {
  entry: TreeEntry;
  isChosen: boolean;
  onOpen: () => void;
  onToggle: () => void;
}) {
  const formats = useFormats();
  const name = entry.path.slice(entry.path.lastIndexOf("/") + 1);
  if (entry.kind === "folder")
    return (
      <button type="button" className="picker-line row tight" onClick={onOpen}>
        <Folder size={16} aria-hidden /> <span className="grow ellipsis">{name}</span>
      </button>
    );
  return (
    <label className="check picker-line">
      <input type="checkbox" checked={isChosen} onChange={onToggle} disabled={entry.kind !== "file"} />
      <File size={16} aria-hidden />
      <span className="grow ellipsis">{name}</span>
      <span className="small dim num">{entry.bytes === null ? "" : formats.bytes(entry.bytes)}</span>
    </label>
  );
}
