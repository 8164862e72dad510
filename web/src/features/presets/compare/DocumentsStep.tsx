import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { dataSetsQuery } from "../../../api/queries";
import type { ContentSummary, DefaultJudges, Rows } from "../../../api/types";
import { useApi, useFormats } from "../../../app/context";
import { Button } from "../../../components/Button";
import { Disclosure } from "../../../components/Disclosure";
import { ErrorNote, Spinner } from "../../../components/Feedback";
import { UploadArea } from "../../../components/uploads/UploadArea";
import { isDocumentFile } from "../../../lib/contentTypes";
import { chosenOf } from "../draft";
import { DocumentPicker } from "../DocumentPicker";
import { RowsField } from "../RowsField";
import { type Brought, first } from "./brought";
import { BroughtSuite, BroughtTable } from "./BroughtPart";
import { ReadPart } from "./ReadPart";
import { answersIn, type KeptTable } from "./setup";
import { TablePart } from "./TablePart";
import { useLook } from "./useBrought";

type Send = (files: readonly File[]) => Promise<void>;

interface Props extends DocumentsProps {
  rows: Rows | undefined;
  /** The rows, and the columns among them with finished answers. */
  onRows: (rows: Rows | undefined, answers: readonly string[]) => void;
  onTable: (table: KeptTable) => void;
  onDecide: (table: KeptTable) => void;
  /** Who compares finished answers by default. */
  judges: DefaultJudges | undefined;
  at: (path: string) => string[];
}

/** What the models work on: documents, or rows of a data set if there is one. */
export function DocumentsStep({ rows, onRows, onTable, onDecide, judges, at, ...documents }: Props) {
  const dataSets = useQuery(dataSetsQuery(useApi())).data ?? [];
  const table = dataSets.find(({ id }) => id === rows?.data_set);
  const look = useLook();
  // Sends files as documents, whatever else they might be.
  const [send, setSend] = useState<{ upload: Send }>();
  const take = (files: readonly File[], upload: Send) => {
    const file = first(files);
    if (!file) return void upload(files);
    const beside = files.filter((one) => one !== file);
    setSend({ upload });
    look.mutate({ file, beside }, { onSuccess: (found) => void upload(documentsIn(found, files)) });
  };
  const brought = look.data;
  const leave = () => look.reset();
  const asText = (file: File) =>
    send && isDocumentFile(file)
      ? () => {
          void send.upload([file]);
          leave();
        }
      : undefined;
  return (
    <section className="card stack" aria-labelledby="documents-title" data-part="inputs">
      <h2 id="documents-title">1 · What to work on</h2>
      {!rows && <Documents {...documents} onFiles={take} />}
      {look.isPending && <Spinner label={`${look.variables.file.name} is being looked at…`} />}
      {look.isError && <Refused error={look.error} onText={asText(look.variables.file)} />}
      {brought?.kind === "suite" && <BroughtSuite key={brought.file.name} brought={brought} onLeave={leave} />}
      {brought?.kind === "table" && !rows && (
        <BroughtTable
          key={`${brought.file.name} ${brought.sheet ?? ""}`}
          brought={brought}
          judges={judges}
          onSheet={(sheet) => look.mutate({ file: brought.file, beside: [], sheet })}
          onTake={(kept) => {
            onTable(kept);
            leave();
          }}
          onDecide={onDecide}
          onText={asText(brought.file)}
          onLeave={leave}
        />
      )}
      {table && rows && <TablePart table={table} onColumns={(columns) => onRows(rows, answersIn(columns))} />}
      {(dataSets.length > 0 || rows) && (
        <RowsField
          rows={rows ?? null}
          dataSets={dataSets}
          none="None: documents"
          onChange={(next) =>
            onRows(next ?? undefined, answersIn(dataSets.find(({ id }) => id === next?.data_set)?.columns ?? []))
          }
          at={at}
        />
      )}
    </section>
  );
}

/** The files that nothing else was made of. */
function documentsIn(found: Brought | undefined, files: readonly File[]): readonly File[] {
  if (!found) return files;
  return found.kind === "suite" ? [] : files.filter((file) => file !== found.file && !found.others.includes(file));
}

/** Why a file is no table, and what else it may be. */
function Refused({ error, onText }: { error: unknown; onText: (() => void) | undefined }) {
  return (
    <>
      <ErrorNote error={error} />
      {onText && (
        <div>
          <Button small onPress={onText}>
            Take it as one text
          </Button>
        </div>
      )}
    </>
  );
}

interface DocumentsProps {
  documents: readonly ContentSummary[];
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
  onSample: () => void;
  isTakingSample: boolean;
}

/** Files from the disk, what the library has, or a sample. */
function Documents({
  documents,
  chosen,
  onChange,
  onSample,
  isTakingSample,
  onFiles,
}: DocumentsProps & { onFiles: (files: readonly File[], upload: Send) => void }) {
  const formats = useFormats();
  const taken = chosenOf(documents, chosen);
  const bytes = taken.reduce((sum, document) => sum + document.body_bytes, 0);
  return (
    <>
      <UploadArea
        type="input_document"
        isSlim={chosen.length > 0}
        onAdded={(ids) => onChange([...new Set([...chosen, ...ids])])}
        onFiles={onFiles}
      >
        {chosen.length === 0 && (
          <>
            <span className="dim small">or</span>
            <Button small onPress={onSample} isDisabled={isTakingSample}>
              {isTakingSample ? "Taking it…" : "Take the sample"}
            </Button>
          </>
        )}
      </UploadArea>
      {chosen.length > 0 && (
        <p role="status">
          <strong className="num">{formats.integer(chosen.length)}</strong>{" "}
          {chosen.length === 1 ? "document" : "documents"} <span className="dim">· {formats.bytes(bytes)}</span>
        </p>
      )}
      <ReadPart documents={taken} />
      {documents.length > 0 && (
        <Disclosure title="Choose from the library" summary={formats.counted(documents.length, "document")}>
          <DocumentPicker documents={documents} chosen={chosen} onChange={onChange} />
        </Disclosure>
      )}
    </>
  );
}
