import type { Parameters } from "../../api/types";
import { SelectField, TextField } from "../../components/Field";

const NUMBERS = [
  ["temperature", "Temperature", 0, 2, 0.1],
  ["top_p", "Top p", 0, 1, 0.05],
  ["max_output_tokens", "Longest answer, tokens", 1, 1_000_000, 1],
  ["seed", "Seed", 0, 2_147_483_647, 1],
  ["top_k", "Top k", 1, 1000, 1],
  ["frequency_penalty", "Frequency penalty", -2, 2, 0.1],
  ["presence_penalty", "Presence penalty", -2, 2, 0.1],
  ["thinking_budget", "Thinking, tokens", 1, 1_000_000, 1],
] as const;
const EFFORTS = ["minimal", "low", "medium", "high"] as const;

interface Props {
  value: Parameters;
  path: string;
  at: (path: string) => string[];
  onChange: (value: Parameters) => void;
}

/** The parameters of a model. The provider’s own value holds for those that are left empty. */
export function ParameterFields({ value, path, at, onChange }: Props) {
  return (
    <div className="columns narrow-columns">
      {NUMBERS.map(([name, label, min, max, step]) => (
        <TextField
          key={name}
          label={label}
          type="number"
          min={min}
          max={max}
          step={step}
          placeholder="default"
          value={value[name] ?? ""}
          faults={at(`${path}.parameters.${name}`)}
          onChange={(event) =>
            onChange({ ...value, [name]: Number.isNaN(event.target.valueAsNumber) ? null : event.target.valueAsNumber })
          }
        />
      ))}
      <SelectField
        label="Reasoning effort"
        value={value.reasoning_effort ?? ""}
        faults={at(`${path}.parameters.reasoning_effort`)}
        onChange={(event) =>
          onChange({ ...value, reasoning_effort: EFFORTS.find((effort) => effort === event.target.value) ?? null })
        }
      >
        <option value="">Default</option>
        {EFFORTS.map((effort) => (
          <option key={effort}>{effort}</option>
        ))}
      </SelectField>
    </div>
  );
}
