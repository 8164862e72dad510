import { Table2 } from "lucide-react";
import { Button, DropZone, FileTrigger } from "react-aria-components";
import { ErrorNote, Spinner } from "../../../components/Feedback";
import { filesIn } from "../../../components/uploads/dropped";
import { TABLE_ENDINGS } from "../../../lib/contentTypes";

interface Props {
  words: string;
  isSlim: boolean;
  isPending: boolean;
  error: unknown;
  onFile: (file: File) => void;
}

/** One table is dropped or chosen. What is wrong with it stands below, by row and column. */
export function TableDrop({ words, isSlim, isPending, error, onFile }: Props) {
  const take = (file: File | undefined) => file && !isPending && onFile(file);
  return (
    <div className="stack tight">
      <DropZone
        className={`drop ${isSlim ? "slim" : ""}`}
        aria-label="Drop a table here"
        onDrop={(event) => void filesIn(event.items).then(([first]) => take(first))}
      >
        <span className="row tight nowrap">
          <Table2 size={18} aria-hidden /> {words}
        </span>
        {isPending ? (
          <Spinner label="The table is being read…" />
        ) : (
          <FileTrigger acceptedFileTypes={TABLE_ENDINGS} onSelect={(files) => take(files?.[0])}>
            <Button className="btn small">Choose a table</Button>
          </FileTrigger>
        )}
      </DropZone>
      {error !== null && error !== undefined && <ErrorNote error={error} />}
    </div>
  );
}
