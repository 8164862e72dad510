import { Check, CircleAlert, Clock, LoaderCircle, Upload as UploadIcon, X } from "lucide-react";
import { Button, DropZone, FileTrigger } from "react-aria-components";
import type { ContentType } from "../../api/types";
import { useFormats } from "../../app/context";
import { IconButton } from "../../components/Button";
import { DOCUMENT_ENDINGS, TEXT_ENDINGS, wordsForType } from "./types";
import { isUnderWay, type Upload, type UploadState, useUploads } from "./uploads";

const ICONS = { waiting: Clock, sending: LoaderCircle, added: Check, failed: CircleAlert };
const WORDS: Record<UploadState, string> = { waiting: "waiting", sending: "being read", added: "added", failed: "refused" };

/** Files that are dropped or chosen become contents. */
export function UploadArea({ type }: { type: ContentType }) {
  const { uploads, take, clear } = useUploads(type);
  const isForDocuments = type === "input_document";
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
          <UploadIcon size={18} aria-hidden /> {isForDocuments ? "Drop PDF, Word, web and text files here: each becomes one of the documents." : `Drop text files here: each becomes one of the ${wordsForType(type).toLowerCase()}.`}
        </span>
        <FileTrigger allowsMultiple acceptedFileTypes={[...(isForDocuments ? DOCUMENT_ENDINGS : []), ...TEXT_ENDINGS]} onSelect={(files) => void take([...(files ?? [])])}>
          <Button className="btn small">Choose files</Button>
        </FileTrigger>
      </DropZone>
      {uploads.length > 0 && <Progress uploads={uploads} onClose={clear} />}
    </div>
  );
}

function Progress({ uploads, onClose }: { uploads: readonly Upload[]; onClose: () => void }) {
  const formats = useFormats();
  const ended = uploads.filter((upload) => !isUnderWay(upload));
  const failed = ended.filter(({ state }) => state === "failed").length;
  const words = `${formats.integer(ended.length)} of ${formats.integer(uploads.length)} files done${failed ? `, ${formats.integer(failed)} refused` : ""}`;
  return (
    <section className="card uploads stack tight" aria-label="Uploads">
      <div className="row">
        <span className="grow" role="status">
          {words}
        </span>
        {ended.length === uploads.length && <IconButton small label="Close the list of uploads" icon={<X size={16} aria-hidden />} onPress={onClose} />}
      </div>
      <div className="progress" role="progressbar" aria-label="Files done" aria-valuemin={0} aria-valuemax={uploads.length} aria-valuenow={ended.length}>
        <i style={{ width: `${(100 * (ended.length - failed)) / uploads.length}%` }} />
        <i className="bad" style={{ width: `${(100 * failed) / uploads.length}%` }} />
      </div>
      <ul>
        {uploads.map((upload) => (
          <Line key={upload.key} upload={upload} />
        ))}
      </ul>
    </section>
  );
}

function Line({ upload: { file, state, error } }: { upload: Upload }) {
  const formats = useFormats();
  const Icon = ICONS[state];
  return (
    <li className={state}>
      <Icon size={16} aria-hidden className={state === "sending" ? "spinner" : ""} />
      <span className="grow">
        <strong>{file.name}</strong> <span className="small dim num">{formats.bytes(file.size)}</span>
        {state === "failed" && (
          <span className="small" role="alert">
            <br />
            {error instanceof Error ? error.message : "It was refused."}
          </span>
        )}
      </span>
      <span className="small dim">{WORDS[state]}</span>
    </li>
  );
}
