import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { DefaultJudges } from "../../../api/types";
import { useFormats } from "../../../app/context";
import { Button } from "../../../components/Button";
import { DroppedParts } from "../DroppedParts";
import { ErrorNote, Note, Spinner } from "../../../components/Feedback";
import { SelectField } from "../../../components/Field";
import { type Brought, PROGRAMS } from "./brought";
import { answersIn, type KeptTable } from "./setup";
import { TableRoles } from "./TableRoles";
import { useImportSuite, useKeepTable } from "./useBrought";
import { asks } from "./table";

interface Props<Kind extends Brought["kind"]> {
  brought: Extract<Brought, { kind: Kind }>;
  onLeave: () => void;
}

interface TableProps extends Props<"table"> {
  /** Who compares finished answers by default. */
  judges: DefaultJudges | undefined;
  onSheet: (sheet: string) => void;
  onTake: (table: KeptTable) => void;
  /** The rows are kept, and nothing else is needed for a decision. */
  onDecide: (table: KeptTable) => void;
  /** Take the file as a document instead. */
  onText: (() => void) | undefined;
}

/** A table or the results of another program, as a look at the file shows it: nothing is kept before a button is pressed. */
export function BroughtTable({ brought, judges, onSheet, onTake, onDecide, onText, onLeave }: TableProps) {
  const formats = useFormats();
  const [columns, setColumns] = useState(brought.columns);
  const { file, preview } = brought;
  const keep = useKeepTable();
  const answers = answersIn(columns);
  const { checks } = preview;
  const take = (then: (table: KeptTable) => void) =>
    keep.mutate({ ...brought, columns }, { onSuccess: ({ id }) => then({ id, name: file.name, answers, checks }) });
  const isAsked = columns.some(asks);
  const rows = formats.counted(preview.row_count, "row");
  const canDecide = answers.length > 1 && (Boolean(judges?.judges.length) || checks.length > 0);
  return (
    <div className="stack tight brought" role="group" aria-label={file.name}>
      <p role="status">
        <strong>
          <bdi>{[file, ...brought.others].map(({ name }) => name).join(", ")}</bdi>
        </strong>
        :{" "}
        {preview.source === "table"
          ? `a table with ${rows}.`
          : `results of ${PROGRAMS[preview.source]} with ${rows} and finished answers of ${answers.join(", ")}.`}{" "}
        {checks.length > 0 && `Its grades come along as checks: ${checks.map(({ name }) => name).join(", ")}.`}
      </p>
      {preview.sheets.length > 1 && (
        <SelectField label="Sheet" value={preview.sheets[0]} onChange={(event) => onSheet(event.target.value)}>
          {preview.sheets.map((sheet) => (
            <option key={sheet}>{sheet}</option>
          ))}
        </SelectField>
      )}
      <TableRoles columns={columns} rows={preview.rows} rowCount={preview.row_count} onChange={setColumns} />
      {preview.notes.length > 0 && (
        <ul className="small dim">
          {preview.notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
      {keep.isError && <ErrorNote error={keep.error} />}
      {answers.length > 1 && !canDecide && judges && <Note>{judges.sentence}</Note>}
      {preview.source !== "table" && answers.length === 1 && (
        <p className="small dim">
          One answer to each question: let a model compete with it, or drop the results of another model together with
          these.
        </p>
      )}
      <div className="row">
        {answers.length > 1 && (
          <Button
            variant="primary"
            isDisabled={!canDecide || !isAsked || keep.isPending}
            onPress={() => take(onDecide)}
          >
            Decide between these answers
          </Button>
        )}
        <Button
          variant={answers.length > 1 ? "plain" : "primary"}
          isDisabled={!isAsked || keep.isPending}
          onPress={() => take(onTake)}
        >
          {keep.isPending ? "Keeping them…" : `Use ${preview.row_count === 1 ? "the row" : `the ${rows}`}`}
        </Button>
        {onText && (
          <Button variant="quiet" onPress={onText}>
            The file is one text
          </Button>
        )}
        <Button variant="quiet" onPress={onLeave}>
          Not this file
        </Button>
      </div>
    </div>
  );
}

/** A configuration of promptfoo: it becomes a data set and a preset, and what Carrel has no word for is listed. */
export function BroughtSuite({ brought, onLeave }: Props<"suite">) {
  const formats = useFormats();
  const { file } = brought;
  const suite = useImportSuite();
  const made = suite.data;
  return (
    <div className="stack tight brought" role="group" aria-label={file.name}>
      <p role="status">
        <strong>
          <bdi>{file.name}</bdi>
        </strong>
        : a configuration of promptfoo.{" "}
        {made
          ? `It became a data set of ${formats.counted(made.data_set.row_count, "row")}, ${made.prompts.length === 1 ? "a prompt" : formats.counted(made.prompts.length, "prompt")} and ${made.preset ? "a comparison that is ready to run" : "a set-up that needs models"}.`
          : "It becomes a data set and a comparison with its prompts, models and checks; nothing of it is executed."}
      </p>
      {suite.isError && <ErrorNote error={suite.error} />}
      {made && <DroppedParts dropped={made.dropped} />}
      <div className="row">
        {made?.preset && (
          <Link to="/presets/$presetId" params={{ presetId: made.preset.id }} className="btn primary">
            Open the comparison
          </Link>
        )}
        {made?.draft && (
          <Link to="/compare" search={{ draft: made.draft.id }} className="btn primary">
            Choose its models
          </Link>
        )}
        {!made &&
          (suite.isPending ? (
            <Spinner label="It is being read…" />
          ) : (
            <Button variant="primary" onPress={() => suite.mutate(brought)}>
              Import it
            </Button>
          ))}
        <Button variant="quiet" onPress={onLeave}>
          {made ? "Bring something else" : "Not this file"}
        </Button>
      </div>
    </div>
  );
}
