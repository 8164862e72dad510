import { ApiError, faultsAt } from "carrel-sdk";
import type { Content, ContentIn } from "../../api/types";
import { SelectField, TextField } from "../../components/Field";
import { TagsField } from "../../components/TagsField";
import { TYPES, typeOf } from "../../lib/contentTypes";

/** What its user writes of a content. The compiler misses a field that is not here: it would be lost when saving. */
const WRITTEN: Record<keyof ContentIn, true> = {
  name: true,
  type: true,
  body: true,
  description: true,
  tags: true,
  variables: true,
};
const FIELDS = Object.keys(WRITTEN) as (keyof ContentIn)[];

/** The part of a content that can be saved again. */
export function writtenOf(content: Content): ContentIn {
  return Object.fromEntries(FIELDS.map((field) => [field, content[field]])) as unknown as ContentIn;
}

/** Whether every fault is shown beside a field. */
export function isOfFields(error: unknown): boolean {
  return (
    error instanceof ApiError &&
    error.faults.length > 0 &&
    error.faults.every(({ path }) =>
      FIELDS.some((field) => path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`)),
    )
  );
}

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
