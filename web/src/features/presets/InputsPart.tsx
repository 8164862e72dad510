import type { ContentSummary, DataSetSummary, PresetIn } from "../../api/types";
import { ContentSelect } from "./ContentSelect";
import { DocumentPicker } from "./DocumentPicker";
import { chosenOf, withInputs, withRows } from "./draft";
import { GroupsField } from "./GroupsField";
import { References } from "./References";
import { RowsField } from "./RowsField";

interface Props {
  draft: PresetIn;
  onChange: (draft: PresetIn) => void;
  at: (path: string) => string[];
  documents: readonly ContentSummary[];
  dataSets: readonly DataSetSummary[];
}

/** What the candidates work on, documents or rows of a data set, and what they are asked to do. */
export function InputsPart({ draft, onChange, at, documents, dataSets }: Props) {
  const change = (part: Partial<PresetIn>) => onChange({ ...draft, ...part });
  const chosen = chosenOf(documents, draft.inputs);
  return (
    <section className="card stack" aria-labelledby="documents-title">
      <h2 id="documents-title">Documents</h2>
      {(dataSets.length > 0 || draft.rows) && (
        <RowsField
          rows={draft.rows ?? null}
          dataSets={dataSets}
          none="None: documents of the library"
          onChange={(rows) => onChange(withRows(draft, rows))}
          at={at}
        />
      )}
      {!draft.rows && (
        <div data-part="inputs">
          <DocumentPicker
            documents={documents}
            chosen={draft.inputs ?? []}
            onChange={(inputs) => onChange(withInputs(draft, inputs))}
          />
        </div>
      )}
      <div data-part="instructions">
        <ContentSelect
          label="Instructions for everybody"
          type="generation_instructions"
          value={draft.instructions ?? null}
          onChange={(instructions) => change({ instructions })}
          faults={at("instructions")}
          none="None: every candidate has its own"
        />
      </div>
      {draft.rows ? (
        <p className="small dim">The columns of the data set say what belongs together, and what is expected.</p>
      ) : (
        <>
          <GroupsField groups={draft.groups} onChange={(groups) => change({ groups: groups ?? null })} at={at} />
          <References
            references={draft.references ?? {}}
            documents={chosen}
            faults={at("references")}
            onChange={(references) => change({ references })}
          />
        </>
      )}
    </section>
  );
}
