import { Play, TextSearch } from "lucide-react";
import { useMemo, useState } from "react";
import type { ContentSummary } from "../../../api/types";
import { Button } from "../../../components/Button";
import { ErrorNote, Note } from "../../../components/Feedback";
import { SelectField, TextField } from "../../../components/Field";
import { openVariables } from "../ExecuteDialog";
import { Rehearsal } from "../Rehearsal";
import type { Rehearsed } from "../useRehearsal";
import { type Missing, missingIn, triedInput, type Setup, type TriedInput } from "./setup";

const NO_DOCUMENTS: readonly string[] = [];

interface Action {
  isPending: boolean;
  error: Error | null;
}

interface Props {
  setup: Setup;
  documents: readonly ContentSummary[];
  rehearsal: Rehearsed;
  /** What the comparison still lacks. */
  missing: readonly Missing[];
  tries: Action;
  onTry: (on: TriedInput) => void;
  starts: Action;
  canStart: boolean;
  /** What starting it is called. */
  start: string;
  onStart: () => void;
  saves: Action;
  /** Left out for a preset, which the page itself saves. */
  onSave: (() => void) | undefined;
  /** Move the focus to a part of the page. */
  onGo: (part: string) => void;
}

/** What the comparison takes, and the ways on: a try on one document or row, the whole, or only to save it. */
export function StartCard(props: Props) {
  const { setup, documents, rehearsal, missing, tries, onTry, starts, canStart, start, onStart, saves, onSave, onGo } =
    props;
  const [wanted, setWanted] = useState<string>();
  const inputs = setup.rows ? NO_DOCUMENTS : setup.documents;
  // Hundreds of them, which no key in another field changes.
  const choices = useMemo(() => {
    const names = new Map(documents.map(({ id, name }) => [id, name]));
    return inputs.map((id) => (
      <option key={id} value={id}>
        {names.get(id) ?? "…"}
      </option>
    ));
  }, [documents, inputs]);
  const [row, setRow] = useState("");
  const on = triedInput(setup, wanted, row);
  const open = [...new Set([rehearsal.error, starts.error, saves.error, tries.error].flatMap(openVariables))];
  const cannotStart = !canStart || starts.isPending || saves.isPending;
  return (
    <aside className="stack sticky" aria-label="What it takes">
      <div className="card stack">
        <h2>What it takes</h2>
        {missing.length > 0 ? (
          <Note>
            <ul className="stack tight">
              {missing.map(({ part, words }) => (
                <li key={words}>
                  <button type="button" className="link" onClick={() => onGo(part)}>
                    {words}
                  </button>
                </li>
              ))}
            </ul>
          </Note>
        ) : open.length > 0 ? (
          <Unfilled names={open} isOfRows={setup.rows !== undefined} onGo={() => onGo("instructions")} />
        ) : (
          <Rehearsal rehearsal={rehearsal} />
        )}
        {[starts.error, saves.error, tries.error].map(
          (error, at) => error && !openVariables(error).length && <ErrorNote key={at} error={error} />,
        )}
        <div className="row two-ways">
          <Button
            onPress={() => on && onTry(on)}
            isDisabled={missingIn(setup, true).length > 0 || tries.isPending || !on}
          >
            <TextSearch size={16} aria-hidden /> {tries.isPending ? "Starting…" : "Try on one"}
          </Button>
          <Button variant="primary" onPress={onStart} isDisabled={cannotStart}>
            <Play size={16} aria-hidden /> {starts.isPending ? "Starting…" : start}
          </Button>
        </div>
        {onSave && (
          <div>
            <Button small variant="quiet" onPress={onSave} isDisabled={cannotStart}>
              {saves.isPending ? "Saving…" : "Save it as a preset, and run it later"}
            </Button>
          </div>
        )}
        {setup.rows && (
          <TextField
            label="Try on row"
            type="number"
            min={1}
            step={1}
            placeholder="the first one"
            value={row}
            faults={row && !on ? ["Write the number of a row: 1 is the first."] : []}
            onChange={(event) => setRow(event.target.value)}
          />
        )}
        {inputs.length > 1 && (
          <SelectField
            label="Try on"
            value={typeof on === "string" ? on : ""}
            onChange={(event) => setWanted(event.target.value)}
          >
            {choices}
          </SelectField>
        )}
        {setup.trial && (
          <p className="small dim">
            Compare takes the answers that you tried, and whatever an earlier run asked in the same way. They are not
            paid again.
          </p>
        )}
      </div>
    </aside>
  );
}

interface UnfilledProps {
  names: readonly string[];
  /** The inputs are rows of a data set, whose columns have names. */
  isOfRows: boolean;
  onGo: () => void;
}

/** Names in braces that stand for nothing, most of them misspelt: the way to the task, and what may stand there. */
function Unfilled({ names, isOfRows, onGo }: UnfilledProps) {
  return (
    <Note tone="warn">
      <p>
        <button type="button" className="link" onClick={onGo}>
          The task
        </button>{" "}
        names {names.map((name) => `{{${name}}}`).join(" and ")}, which{" "}
        {isOfRows ? "no column is called" : "stands for nothing here"}. Write{" "}
        {isOfRows ? "the name of a column" : "{{document}}"}, or take the braces away.
      </p>
    </Note>
  );
}
