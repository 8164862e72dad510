import {
  Check,
  CircleAlert,
  Clock,
  LoaderCircle,
  type LucideIcon,
  Square,
  Upload as UploadIcon,
  X,
} from "lucide-react";
import { memo, type ReactNode } from "react";
import { Button, DropZone, FileTrigger } from "react-aria-components";
import type { ContentType } from "../../api/types";
import { useFormats } from "../../app/context";
import { Button as Press, IconButton } from "../Button";
import { filesIn } from "./dropped";
import { DOCUMENT_ENDINGS, TABLE_ENDINGS, TEXT_ENDINGS, wordsForType } from "../../lib/contentTypes";
import { isUnderWay, type Upload, type UploadState, useUploads } from "./uploads";

const ICONS: Record<UploadState, LucideIcon> = {
  waiting: Clock,
  sending: LoaderCircle,
  reading: LoaderCircle,
  added: Check,
  failed: CircleAlert,
  stopped: Square,
};
const WORDS: Record<UploadState, string> = {
  waiting: "waiting",
  sending: "being sent",
  reading: "being read",
  added: "added",
  failed: "refused",
  stopped: "stopped",
};

type Send = (files: readonly File[]) => Promise<void>;

interface Props {
  type: ContentType;
  isSlim: boolean;
  /** Told the ids of the new contents; then nothing else says that they were added. */
  onAdded?: (contentIds: readonly string[]) => void;
  /** Takes what is more than a text, such as a table whose rows are inputs, and uploads the rest. */
  onFiles?: (files: readonly File[], upload: Send) => void;
  /** Stands beside the button that chooses files. */
  children?: ReactNode;
}

/** Files that are dropped or chosen become contents. */
export function UploadArea({ type, isSlim, onAdded, onFiles, children }: Props) {
  const { uploads, take: upload, stop, clear } = useUploads(type, onAdded);
  const take = (files: readonly File[]) => (onFiles ? onFiles(files, upload) : void upload(files));
  const isForDocuments = type === "input_document";
  return (
    <div className="stack tight">
      <DropZone
        className={`drop ${isSlim ? "slim" : ""}`}
        aria-label="Drop files here"
        onDrop={(event) => void filesIn(event.items).then(take)}
      >
        <span className="row tight nowrap">
          <UploadIcon size={18} aria-hidden />{" "}
          {isForDocuments && isSlim && onFiles
            ? "Drop more files, or folders of them."
            : isForDocuments
              ? onFiles
                ? "Drop any file: a table (CSV, Excel, JSON), results or a configuration of promptfoo, an Inspect log, or PDF, Word, web and text files."
                : "Drop PDF, Word, web and text files, or folders of them: each file becomes one of the documents."
              : `Drop text files here: each becomes one of the ${wordsForType(type).toLowerCase()}.`}
        </span>
        <div className="row">
          <FileTrigger
            allowsMultiple
            acceptedFileTypes={[
              ...(isForDocuments ? DOCUMENT_ENDINGS : []),
              ...TEXT_ENDINGS,
              ...(onFiles ? [...TABLE_ENDINGS, ".eval"] : []),
            ]}
            onSelect={(files) => take([...(files ?? [])])}
          >
            <Button className="btn small">Choose files</Button>
          </FileTrigger>
          {children}
        </div>
      </DropZone>
      {uploads.length > 0 && <Progress uploads={uploads} onStop={stop} onClose={clear} />}
    </div>
  );
}

interface ProgressProps {
  uploads: readonly Upload[];
  onStop: () => void;
  onClose: () => void;
}

function Progress({ uploads, onStop, onClose }: ProgressProps) {
  const formats = useFormats();
  const ended = uploads.filter((upload) => !isUnderWay(upload));
  const failed = ended.filter(({ state }) => state === "failed").length;
  const words = `${formats.integer(ended.length)} of ${formats.counted(uploads.length, "file")} done${failed ? `, ${formats.integer(failed)} refused` : ""}`;
  return (
    <section className="card uploads stack tight" aria-label="Uploads">
      <div className="row">
        <span className="grow" role="status">
          {words}
        </span>
        {ended.length === uploads.length ? (
          <IconButton small label="Close the list of uploads" icon={<X size={16} aria-hidden />} onPress={onClose} />
        ) : (
          <Press small onPress={onStop}>
            Stop
          </Press>
        )}
      </div>
      <div
        className="progress"
        role="progressbar"
        aria-label="Files done"
        aria-valuemin={0}
        aria-valuemax={uploads.length}
        aria-valuenow={ended.length}
      >
        <i style={{ width: `${(100 * (ended.length - failed)) / uploads.length}%` }} />
        <i className="bad" style={{ width: `${(100 * failed) / uploads.length}%` }} />
      </div>
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a frame that scrolls must be reachable by keyboard */}
      <ul tabIndex={0} aria-label="Files">
        {uploads.map((upload) => (
          <Line key={upload.key} upload={upload} />
        ))}
      </ul>
    </section>
  );
}

/** Memoised: there may be hundreds of rows while one of them updates its progress. */
const Line = memo(function Line({ upload: { file, state, sent = 0, error } }: { upload: Upload }) {
  const formats = useFormats();
  const Icon = ICONS[state];
  return (
    <li className={state}>
      <Icon size={16} aria-hidden className={state === "sending" || state === "reading" ? "spinner" : ""} />
      <span className="grow">
        <strong>
          <bdi>{file.name}</bdi>
        </strong>{" "}
        <span className="small dim num">{formats.bytes(file.size)}</span>
        {state === "failed" && (
          <span className="small" role="alert">
            <br />
            {error instanceof Error ? error.message : "It was refused."}
          </span>
        )}
      </span>
      <span className="small dim num">
        {state === "sending" && sent > 0
          ? `${formats.bytes(Math.min(file.size, Math.round(sent * file.size)))}, ${formats.percent(sent)}`
          : WORDS[state]}
      </span>
    </li>
  );
});
