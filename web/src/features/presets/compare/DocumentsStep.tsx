import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { dataSetsQuery } from "../../../api/queries";
import type { ContentSummary, Rows } from "../../../api/types";
import { useApi, useFormats } from "../../../app/context";
import { Button } from "../../../components/Button";
import { Disclosure } from "../../../components/Disclosure";
import { ErrorNote, Spinner } from "../../../components/Feedback";
import { UploadArea } from "../../../components/uploads/UploadArea";
import { chosenOf } from "../draft";
import { DocumentPicker } from "../DocumentPicker";
import { RowsField } from "../RowsField";
import { TablePart } from "./TablePart";
import { useBringTable } from "./useTable";

interface Props extends DocumentsProps {
  rows: Rows | undefined;
  onRows: (rows: Rows | undefined) => void;
  at: (path: string) => string[];
}

/** What the models work on: documents, or rows of a data set if there is one. */
export function DocumentsStep({ rows, onRows, at, ...documents }: Props) {
  const dataSets = useQuery(dataSetsQuery(useApi())).data ?? [];
  const table = dataSets.find(({ id }) => id === rows?.data_set);
  const bring = useBringTable();
  const [file, setFile] = useState<File>();
  const take = (file: File) => {
    setFile(file);
    bring.mutate(file, { onSuccess: ({ id }) => onRows({ data_set: id }) });
  };
  return (
    <section className="card stack" aria-labelledby="documents-title" data-part="inputs">
      <h2 id="documents-title">1 · What to work on</h2>
      {!rows && <Documents {...documents} onTable={take} />}
      {bring.isPending && <Spinner label={`${file?.name ?? "The table"} is being read…`} />}
      {bring.isError && <ErrorNote error={bring.error} />}
      {table && <TablePart table={table} />}
      {(dataSets.length > 0 || rows) && (
        <RowsField
          rows={rows ?? null}
          dataSets={dataSets}
          none="None: documents"
          onChange={(next) => onRows(next ?? undefined)}
          at={at}
        />
      )}
    </section>
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
  onTable,
}: DocumentsProps & { onTable: (table: File) => void }) {
  const formats = useFormats();
  const taken = chosenOf(documents, chosen);
  const bytes = taken.reduce((sum, document) => sum + document.body_bytes, 0);
  return (
    <>
      <UploadArea
        type="input_document"
        isSlim={chosen.length > 0}
        onAdded={(ids) => onChange([...new Set([...chosen, ...ids])])}
        onTable={onTable}
      >
        <span className="dim small">or</span>
        <Button small onPress={onSample} isDisabled={isTakingSample}>
          {isTakingSample ? "Taking it…" : "Take the sample"}
        </Button>
      </UploadArea>
      {chosen.length > 0 && (
        <p role="status">
          <strong className="num">{formats.integer(chosen.length)}</strong>{" "}
          {chosen.length === 1 ? "document" : "documents"} <span className="dim">· {formats.bytes(bytes)}</span>
        </p>
      )}
      {documents.length > 0 && (
        <Disclosure
          title="Choose from the library"
          summary={`${formats.integer(documents.length)} ${documents.length === 1 ? "document" : "documents"}`}
        >
          <DocumentPicker documents={documents} chosen={chosen} onChange={onChange} />
        </Disclosure>
      )}
    </>
  );
}
