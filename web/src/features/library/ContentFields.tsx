import { faultsAt } from "../../api/errors";
import type { ContentIn } from "../../api/types";
import { SelectField, TextField } from "../../components/Field";
import { TagsField } from "../../components/TagsField";
import { TYPES, typeOf } from "./types";

interface Props {
  draft: ContentIn;
  /** The type cannot change later, because whatever uses a content relies on it. */
  isNew: boolean;
  error: unknown;
  onChange: (part: Partial<ContentIn>) => void;
}

/** What a content is called, what it is, and how it is found again. */
export function ContentFields({ draft, isNew, error, onChange }: Props) {
  return (
    <div className="columns">
      <TextField
        label="Name"
        value={draft.name}
        maxLength={200}
        faults={faultsAt(error, "name")}
        onChange={(event) => onChange({ name: event.target.value })}
      />
      <SelectField
        label="Type"
        value={draft.type}
        disabled={!isNew}
        faults={faultsAt(error, "type")}
        hint={TYPES.find(([type]) => type === draft.type)?.[2]}
        onChange={(event) => onChange({ type: typeOf(event.target.value) ?? draft.type })}
      >
        {TYPES.map(([type, label]) => (
          <option key={type} value={type}>
            {label}
          </option>
        ))}
      </SelectField>
      <TagsField tags={draft.tags ?? []} faults={faultsAt(error, "tags")} onChange={(tags) => onChange({ tags })} />
      <TextField
        label="Description"
        value={draft.description ?? ""}
        maxLength={2000}
        faults={faultsAt(error, "description")}
        onChange={(event) => onChange({ description: event.target.value })}
      />
    </div>
  );
}
