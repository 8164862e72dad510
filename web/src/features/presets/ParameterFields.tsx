import type { Parameters } from "../../api/types";
import { SelectField, TextArea, TextField } from "../../components/Field";
import { JsonArea } from "./JsonArea";

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
const WORDS = [
  ["reasoning_effort", "Reasoning effort", ["none", "minimal", "low", "medium", "high", "xhigh", "max"]],
  ["verbosity", "Verbosity", ["low", "medium", "high"]],
] as const;

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
      {WORDS.map(([name, label, words]) => (
        <SelectField
          key={name}
          label={label}
          value={value[name] ?? ""}
          faults={at(`${path}.parameters.${name}`)}
          onChange={(event) =>
            onChange({ ...value, [name]: words.find((word) => word === event.target.value) ?? null })
          }
        >
          <option value="">Default</option>
          {words.map((word) => (
            <option key={word}>{word}</option>
          ))}
        </SelectField>
      ))}
      <TextArea
        label="Stop at"
        hint="Up to 16 texts, one a line: the answer ends before the first of them."
        rows={2}
        value={(value.stop ?? []).join("\n")}
        faults={at(`${path}.parameters.stop`)}
        onChange={(event) => onChange({ ...value, stop: event.target.value ? event.target.value.split("\n") : null })}
      />
      <JsonArea
        label="Further fields"
        hint="A JSON object, sent to the provider as it is."
        what="an object in JSON"
        rows={2}
        value={value.extra}
        faults={at(`${path}.parameters.extra`)}
        onChange={(extra) => onChange({ ...value, extra })}
      />
    </div>
  );
}
