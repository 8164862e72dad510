import { Trash2 } from "lucide-react";
import type { CriterionRow } from "../../api/types";
import { useFormats } from "../../app/context";
import { IconButton } from "../Button";
import { TextArea, TextField } from "../Field";

interface Props {
  /** From 1. */
  number: number;
  row: CriterionRow;
  /** How much of the whole it counts, from 0 to 1. */
  share: number | undefined;
  faultsAt: (field: string) => string[];
  onChange: (part: Partial<CriterionRow>) => void;
  onRemove: () => void;
}

/** A criterion: its name, its meaning, its weight and its scale. An empty field takes its default. */
export function CriterionFields({ number, row, share, faultsAt, onChange, onRemove }: Props) {
  const formats = useFormats();
  const figure = (label: string, field: "weight" | "minimum" | "maximum", normally: string, faults: string[]) => (
    <TextField
      label={label}
      inputMode="decimal"
      placeholder={normally}
      value={row[field] ?? ""}
      faults={faults}
      onChange={(event) => onChange({ [field]: event.target.value || null })}
      {...(field === "weight" && share !== undefined ? { hint: `counts ${formats.percent(share)}` } : {})}
    />
  );
  return (
    <li className="criterion" aria-label={row.name?.trim() || `Criterion ${number}`}>
      <TextField
        label="Name"
        value={row.name ?? ""}
        maxLength={100}
        faults={faultsAt("name")}
        onChange={(event) => onChange({ name: event.target.value })}
      />
      <TextArea
        label="Meaning"
        rows={2}
        value={row.description ?? ""}
        maxLength={2000}
        placeholder="What an answer is like that deserves the full score."
        faults={faultsAt("description")}
        onChange={(event) => onChange({ description: event.target.value || null })}
      />
      {figure("Weight", "weight", "1", faultsAt("weight"))}
      {figure("Scale from", "minimum", "1", [...faultsAt("scale"), ...faultsAt("scale.min")])}
      {figure("to", "maximum", "5", faultsAt("scale.max"))}
      <IconButton
        label={`Remove ${row.name?.trim() || `criterion ${number}`}`}
        icon={<Trash2 size={16} aria-hidden />}
        onPress={onRemove}
      />
    </li>
  );
}
