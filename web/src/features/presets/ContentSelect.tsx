import { useQuery } from "@tanstack/react-query";
import { contentChoiceQuery } from "../../api/queries";
import type { ContentType } from "../../api/types";
import { useApi } from "../../app/context";
import { SelectField } from "../../components/Field";
import { isWritten, WriteText } from "./WriteText";

interface Props {
  label: string;
  type: ContentType;
  value: string | null;
  onChange: (id: string | null) => void;
  faults: readonly string[];
  none: string;
  /** Without the button that writes a new one. */
  isPlain?: boolean;
}

/** Chooses one content of a type. A deleted one stays in sight until another is chosen. */
export function ContentSelect({ label, type, value, onChange, faults, none, isPlain }: Props) {
  const query = useQuery(contentChoiceQuery(useApi(), type));
  const isGone = value !== null && query.data !== undefined && !query.data.some((content) => content.id === value);
  const select = (
    <SelectField
      label={label}
      value={value ?? ""}
      faults={isGone ? ["This content is no longer in the library.", ...faults] : faults}
      onChange={(event) => onChange(event.target.value || null)}
    >
      <option value="">{none}</option>
      {isGone && <option value={value}>Deleted content</option>}
      {query.data?.map((content) => (
        <option key={content.id} value={content.id}>
          {content.name}
        </option>
      ))}
    </SelectField>
  );
  if (isPlain || !isWritten(type)) return select;
  return (
    <div className="choose-line">
      {select}
      <WriteText type={type} onWritten={onChange} />
    </div>
  );
}
