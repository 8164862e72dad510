import type { ContentSummary } from "../../../api/types";
import { useFormats } from "../../../app/context";
import { Button } from "../../../components/Button";
import { Disclosure } from "../../../components/Disclosure";
import { UploadArea } from "../../../components/uploads/UploadArea";
import { DocumentPicker } from "../DocumentPicker";

interface Props {
  documents: readonly ContentSummary[];
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
  onSample: () => void;
  isTakingSample: boolean;
}

/** What the models work on: files from the disk, what the library has, or a sample. */
export function DocumentsStep({ documents, chosen, onChange, onSample, isTakingSample }: Props) {
  const formats = useFormats();
  const taken = documents.filter((document) => chosen.includes(document.id));
  const bytes = taken.reduce((sum, document) => sum + document.body_bytes, 0);
  return (
    <section className="card stack" aria-labelledby="documents-title" data-part="inputs">
      <h2 id="documents-title">1 · What to work on</h2>
      <UploadArea
        type="input_document"
        isSlim={chosen.length > 0}
        onAdded={(ids) => onChange([...new Set([...chosen, ...ids])])}
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
    </section>
  );
}
