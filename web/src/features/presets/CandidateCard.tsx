import { Copy, Trash2 } from "lucide-react";
import { memo } from "react";
import type { Candidate, ContentSummary, DataSetColumn, Model } from "../../api/types";
import { IconButton } from "../../components/Button";
import { SelectField, TextField } from "../../components/Field";
import { labelOf, withModel } from "./draft";
import { ExistingTexts } from "./ExistingTexts";
import { ModelSelect } from "../../components/ModelSelect";
import { ParameterFields } from "./ParameterFields";
import { SchemaField } from "./SchemaField";
import { ContentSelect } from "./ContentSelect";

interface Props {
  candidate: Candidate;
  path: string;
  /** What `at` says of all its fields. */
  told: string;
  at: (path: string) => string[];
  models: readonly Model[];
  documents: readonly ContentSummary[];
  /** Of the data set whose rows are the inputs; nothing where documents are. */
  columns: readonly DataSetColumn[] | undefined;
  /** Makes another candidate of the one and, for its label, of all. */
  onChange: (next: (candidate: Candidate, all: readonly Candidate[]) => Candidate) => void;
  onDuplicate: () => void;
  onRemove: () => void;
}

function groundingOf(value: string): NonNullable<Candidate["grounding"]> {
  return value === "allowed" || value === "required" ? value : "off";
}

const SEEN = ["candidate", "path", "told", "models", "documents", "columns"] as const;

/** A candidate. Twenty of them take long to draw, so one is drawn anew only if something has changed that it shows. */
export const CandidateCard = memo(Card, (before, now) => SEEN.every((name) => before[name] === now[name]));

function Card({ candidate, path, at, models, documents, columns, onChange, onDuplicate, onRemove }: Props) {
  const name = labelOf(candidate) || "this candidate";
  const change = (part: Partial<Candidate>) => onChange((before) => ({ ...before, ...part }));
  const isOfRows = columns !== undefined || Boolean(candidate.column);
  const holdsTexts =
    !isOfRows && candidate.existing !== undefined && (!candidate.model || Object.keys(candidate.existing).length > 0);
  return (
    <article className="card stack" aria-label={`Candidate ${name}`}>
      <div className="candidate-head">
        <TextField
          label="Label"
          value={candidate.label ?? ""}
          maxLength={100}
          faults={at(`${path}.label`)}
          onChange={(event) => change({ label: event.target.value })}
        />
        <ModelSelect
          label={
            holdsTexts ? "Model for documents without a text" : candidate.column ? "Model for empty cells" : "Model"
          }
          value={candidate.model ?? ""}
          does="generate"
          models={models}
          faults={at(`${path}.model`)}
          onChange={(model) =>
            onChange((before, all) => withModel(before, model, all.filter((other) => other !== before).map(labelOf)))
          }
        />
        <div className="row tight nowrap">
          <IconButton label={`Duplicate ${name}`} icon={<Copy size={16} aria-hidden />} onPress={onDuplicate} />
          <IconButton label={`Remove ${name}`} icon={<Trash2 size={16} aria-hidden />} onPress={onRemove} />
        </div>
      </div>
      <details open={Boolean(candidate.instructions) || at(`${path}.instructions`).length > 0}>
        <summary>Own instructions and parameters</summary>
        <div className="stack inset">
          <ContentSelect
            label="Instructions"
            type="generation_instructions"
            value={candidate.instructions ?? null}
            onChange={(instructions) => change({ instructions })}
            faults={at(`${path}.instructions`)}
            none="Those for everybody"
          />
          <SelectField
            label="Web search"
            hint="By the tool of OpenAI, Anthropic, Google or OpenRouter."
            value={candidate.grounding ?? "off"}
            faults={at(`${path}.grounding`)}
            onChange={(event) => change({ grounding: groundingOf(event.target.value) })}
          >
            <option value="off">Off</option>
            <option value="allowed">Allowed</option>
            <option value="required">Required: an answer without a page loses</option>
          </SelectField>
          <ParameterFields
            value={candidate.parameters ?? {}}
            path={path}
            at={at}
            onChange={(parameters) => change({ parameters })}
          />
        </div>
      </details>
      <SchemaField
        value={candidate.response_schema}
        faults={at(`${path}.response_schema`)}
        onChange={(response_schema) => change({ response_schema })}
      />
      {isOfRows && (
        <ColumnSelect
          columns={columns ?? []}
          value={candidate.column ?? null}
          faults={at(`${path}.column`)}
          onChange={(column) => change({ column })}
        />
      )}
      {holdsTexts && (
        <ExistingTexts
          existing={candidate.existing ?? {}}
          documents={documents}
          faults={at(`${path}.existing`)}
          onChange={(existing) => change({ existing })}
        />
      )}
    </article>
  );
}

interface ColumnProps {
  columns: readonly DataSetColumn[];
  value: string | null;
  faults: readonly string[];
  onChange: (column: string | null) => void;
}

/** The column of a data set that has the candidate's finished answers. */
function ColumnSelect({ columns, value, faults, onChange }: ColumnProps) {
  const names = columns.map(({ name }) => name);
  return (
    <SelectField
      label="Finished answers in the column"
      value={value ?? ""}
      faults={faults}
      onChange={(event) => onChange(event.target.value || null)}
    >
      <option value="">None: the model answers</option>
      {(value === null || names.includes(value) ? names : [value, ...names]).map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </SelectField>
  );
}
