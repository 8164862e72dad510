import { Plus, Trash2 } from "lucide-react";
import type { AnswerCheck } from "../../api/types";
import { Button, IconButton } from "../../components/Button";
import { SelectField, TextField } from "../../components/Field";
import { CheckValue } from "./CheckValue";
import { type Kind, KINDS, withKind } from "./checks";

const MOST = 20;

interface Props {
  checks: readonly AnswerCheck[];
  onChange: (checks: AnswerCheck[]) => void;
  at: (path: string) => string[];
}

/** What every answer has to keep to, told without a judge. */
export function ChecksPart({ checks, onChange, at }: Props) {
  const set = (place: number, check: AnswerCheck) =>
    onChange(checks.map((other, index) => (index === place ? check : other)));
  return (
    <div className="stack" data-part="checks">
      <p className="small dim">Checks cost no call, and they may stand without judges.</p>
      {checks.map((check, place) => (
        <CheckLine
          key={place}
          number={place + 1}
          check={check}
          at={(field) => at(`checks[${place}].${field}`)}
          onChange={(next) => set(place, next)}
          onRemove={() => onChange(checks.filter((_, index) => index !== place))}
        />
      ))}
      {checks.length < MOST && (
        <div>
          <Button small onPress={() => onChange([...checks, { kind: "contains" }])}>
            <Plus size={14} aria-hidden /> Check
          </Button>
        </div>
      )}
    </div>
  );
}

interface LineProps {
  number: number;
  check: AnswerCheck;
  at: (field: string) => string[];
  onChange: (check: AnswerCheck) => void;
  onRemove: () => void;
}

function CheckLine({ number, check, at, onChange, onRemove }: LineProps) {
  return (
    <div className="check-line" role="group" aria-label={`Check ${number}`}>
      <SelectField
        label="An answer passes if it"
        value={check.kind}
        faults={at("kind")}
        onChange={(event) => onChange(withKind(check, event.target.value as Kind))}
      >
        {Object.entries(KINDS)
          // Grades come along with what another program wrote.
          .filter(([kind]) => kind !== "grade" || check.kind === "grade")
          .map(([kind, { label }]) => (
            <option key={kind} value={kind}>
              {label.charAt(0).toLowerCase() + label.slice(1)}
            </option>
          ))}
      </SelectField>
      <div className="stack tight">
        <CheckValue check={check} at={at} onChange={onChange} />
        <SelectField
          label="An answer that fails"
          value={check.required ? "gate" : "criterion"}
          faults={at("required")}
          onChange={(event) => onChange({ ...check, required: event.target.value === "gate" })}
        >
          <option value="criterion">is counted in the results</option>
          <option value="gate">loses against one that passes</option>
        </SelectField>
        <TextField
          label="Name in the results"
          placeholder={check.kind}
          maxLength={100}
          value={check.name ?? ""}
          faults={at("name")}
          onChange={(event) => onChange({ ...check, name: event.target.value })}
        />
      </div>
      <IconButton label={`Remove check ${number}`} icon={<Trash2 size={16} aria-hidden />} onPress={onRemove} />
    </div>
  );
}
