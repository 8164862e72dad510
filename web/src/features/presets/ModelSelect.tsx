import { useQueryClient } from "@tanstack/react-query";
import { useId } from "react";
import { modelsOfKeys } from "../../api/queries";
import type { Model } from "../../api/types";
import { Field } from "../../components/Field";

interface Props {
  label: string;
  value: string;
  does: "generate" | "judge";
  models: readonly Model[];
  faults: readonly string[];
  hideLabel?: boolean;
  onChange: (model: string) => void;
}

/**
 * A model by name: those of the catalogue and of keys that were tried are proposed, and the name of any other may be
 * typed.
 */
export function ModelSelect({ label, value, does, models, faults, hideLabel, onChange }: Props) {
  const listId = useId();
  const others = modelsOfKeys(useQueryClient()).filter((name) => !models.some(({ model }) => model === name));
  return (
    <Field label={label} faults={faults} {...(hideLabel ? { hideLabel } : {})}>
      {(wiring) => (
        <>
          <input
            {...wiring}
            className="input"
            list={listId}
            value={value}
            placeholder="provider:name"
            spellCheck={false}
            autoComplete="off"
            onChange={(event) => onChange(event.target.value)}
          />
          <datalist id={listId}>
            {models
              .filter((model) => model.roles.includes(does))
              .map((model) => (
                <option key={model.model} value={model.model}>
                  {model.available ? model.description : (model.reason ?? "not available")}
                </option>
              ))}
            {others.map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}
