import { Copy, Trash2 } from "lucide-react";
import type { Candidate, ContentSummary, Model } from "../../api/types";
import { IconButton } from "../../components/Button";
import { SelectField, TextField } from "../../components/Field";
import { labelOf, withModel } from "./draft";
import { ExistingTexts } from "./ExistingTexts";
import { ModelSelect } from "../../components/ModelSelect";
import { ParameterFields } from "./ParameterFields";
import { ContentSelect } from "./ContentSelect";

interface Props {
  candidate: Candidate;
  path: string;
  /** The labels of the other candidates. */
  others: readonly string[];
  at: (path: string) => string[];
  models: readonly Model[];
  documents: readonly ContentSummary[];
  onChange: (candidate: Candidate) => void;
  onDuplicate: () => void;
  onRemove: () => void;
}

function groundingOf(value: string): NonNullable<Candidate["grounding"]> {
  return value === "allowed" || value === "required" ? value : "off";
}

export function CandidateCard({
  candidate,
  path,
  others,
  at,
  models,
  documents,
  onChange,
  onDuplicate,
  onRemove,
}: Props) {
  const name = labelOf(candidate) || "this candidate";
  const holdsTexts =
    candidate.existing !== undefined && (!candidate.model || Object.keys(candidate.existing).length > 0);
  return (
    <article className="card stack" aria-label={`Candidate ${name}`}>
      <div className="candidate-head">
        <TextField
          label="Label"
          value={candidate.label ?? ""}
          maxLength={100}
          faults={at(`${path}.label`)}
          onChange={(event) => onChange({ ...candidate, label: event.target.value })}
        />
        <ModelSelect
          label={holdsTexts ? "Model for documents without a text" : "Model"}
          value={candidate.model ?? ""}
          does="generate"
          models={models}
          faults={at(`${path}.model`)}
          onChange={(model) => onChange(withModel(candidate, model, others))}
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
            onChange={(instructions) => onChange({ ...candidate, instructions })}
            faults={at(`${path}.instructions`)}
            none="Those for everybody"
          />
          <SelectField
            label="Web search"
            hint="By the tool of OpenAI, Anthropic, Google or OpenRouter."
            value={candidate.grounding ?? "off"}
            faults={at(`${path}.grounding`)}
            onChange={(event) => onChange({ ...candidate, grounding: groundingOf(event.target.value) })}
          >
            <option value="off">Off</option>
            <option value="allowed">Allowed</option>
            <option value="required">Required: an answer without a page loses</option>
          </SelectField>
          <ParameterFields
            value={candidate.parameters ?? {}}
            path={path}
            at={at}
            onChange={(parameters) => onChange({ ...candidate, parameters })}
          />
        </div>
      </details>
      {holdsTexts && (
        <ExistingTexts
          existing={candidate.existing ?? {}}
          documents={documents}
          faults={at(`${path}.existing`)}
          onChange={(existing) => onChange({ ...candidate, existing })}
        />
      )}
    </article>
  );
}
