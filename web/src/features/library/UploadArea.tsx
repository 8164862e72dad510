import { Upload } from "lucide-react";
import { Button, DropZone, FileTrigger } from "react-aria-components";
import type { ContentType } from "../../api/types";
import { Note, Spinner } from "../../components/Feedback";
import { useUpload } from "./queries";
import { wordsForType } from "./types";

/** Files that are dropped or chosen become contents. */
export function UploadArea({ type }: { type: ContentType }) {
  const upload = useUpload(type);
  const take = (files: readonly File[]) => files.length && upload.mutate(files);
  return (
    <div className="stack tight">
      <DropZone
        className="drop"
        aria-label="Drop files here"
        onDrop={(event) => {
          const files = event.items.filter((item) => item.kind === "file").map((item) => item.getFile());
          void Promise.all(files).then(take);
        }}
      >
        <span className="row tight">
          <Upload size={18} aria-hidden /> Drop text files here: each becomes one of the {wordsForType(type).toLowerCase()}.
        </span>
        <FileTrigger allowsMultiple acceptedFileTypes={[".md", ".markdown", ".txt", ".yaml", ".yml", ".html", ".csv"]} onSelect={(files) => take([...(files ?? [])])}>
          <Button className="btn small">Choose files</Button>
        </FileTrigger>
        {upload.isPending && <Spinner label="Adding" />}
      </DropZone>
      {upload.data && upload.data.failed.length > 0 && (
        <Note tone="bad" role="alert">
          <ul>
            {upload.data.failed.map(({ name, error }) => (
              <li key={name}>
                <strong>{name}</strong>: {error instanceof Error ? error.message : "was refused"}
              </li>
            ))}
          </ul>
        </Note>
      )}
    </div>
  );
}
