import { ChevronDown } from "lucide-react";
import { useId } from "react";
import { Button, ComboBox, FieldError, Input, Label, ListBox, ListBoxItem, Popover } from "react-aria-components";
import type { Model } from "../api/types";
import { modelAt } from "../lib/modelAt";
import { hintForModel } from "../lib/modelNames";
import { ModelFacts } from "./ModelFacts";

const SHOWN = 60;

interface Props {
  label: string;
  value: string;
  does: "generate" | "judge";
  models: readonly Model[];
  faults: readonly string[];
  /** The list is not whole yet, so that a name that is not in it may still be a good one. */
  isPartial?: boolean;
  onChange: (model: string) => void;
}

/** A model by name, found by typing: every one that a key opens is proposed, and the name of any other may be typed. */
export function ModelSelect({ label, value, does, models, faults, isPartial, onChange }: Props) {
  const id = useId();
  const words = value.trim().toLowerCase().split(/\s+/);
  const isChosen = models.some(({ model }) => model === value);
  const shown = models
    .filter((model) => model.roles.includes(does))
    .filter(({ model }) => isChosen || words.every((word) => model.toLowerCase().includes(word)))
    .slice(0, SHOWN);
  // A name that is being typed is no wrong one as long as it may become one of the list.
  const hint = isPartial || (shown.length > 0 && !isChosen) ? undefined : hintForModel(value, models);
  const wrong = faults.length ? faults : hint ? [hint] : [];
  return (
    <ComboBox
      className="field"
      items={shown}
      inputValue={value}
      onInputChange={onChange}
      onChange={(key) => key !== null && onChange(String(key))}
      allowsCustomValue
      allowsEmptyCollection={false}
      menuTrigger="focus"
      isInvalid={wrong.length > 0}
    >
      <Label>{label}</Label>
      <div className="combo">
        <Input className="input" placeholder="Find a model" spellCheck={false} autoComplete="off" />
        <Button className="combo-open" aria-label={`Show models for ${label}`}>
          <ChevronDown size={16} aria-hidden />
        </Button>
      </div>
      {wrong.length > 0 && (
        <FieldError className="fault" id={id}>
          {wrong.join("; ")}
        </FieldError>
      )}
      <Popover className="popover models">
        <ListBox className="menu" items={shown}>
          {(model: Model) => (
            <ListBoxItem id={model.model} textValue={model.model} className="menu-item model-item">
              <span className="grow">{modelAt(model)}</span>
              <ModelFacts model={model} />
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </ComboBox>
  );
}
