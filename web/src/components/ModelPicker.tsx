import { Search } from "lucide-react";
import { useState } from "react";
import type { Model } from "../api/types";
import { modelAt } from "../lib/modelAt";
import { hintForModel, writesTexts } from "../lib/modelNames";
import { Button } from "./Button";
import { ModelFacts } from "./ModelFacts";

/** So many are in sight at first: typing finds the others. */
const SHOWN = 8;
const FULL_NAME = /^[a-z0-9-]+:\S+$/;

interface Props {
  models: readonly Model[];
  chosen: readonly string[];
  /** The list is not whole yet, so that a name that is not in it may still be a good one. */
  isPartial: boolean;
  does?: Model["roles"][number];
  label?: string;
  onChange: (chosen: string[]) => void;
}

/** Several models, ticked in a list that typing narrows: those that keys open first, chosen ones on top. */
export function ModelPicker({ models, chosen, isPartial, does = "generate", label = "Find a model", onChange }: Props) {
  const [words, setWords] = useState("");
  const [first] = useState(() => new Set(chosen));
  const [isLong, setLong] = useState(false);
  const wanted = words.trim().toLowerCase();
  const fitting = models
    .filter((model) => model.roles.includes(does) && writesTexts(model))
    .filter(({ model }) => wanted.split(/\s+/).every((word) => model.toLowerCase().includes(word)))
    .toSorted((one, other) => rankOf(one, first) - rankOf(other, first));
  const shown = wanted || isLong ? fitting : fitting.filter((model, at) => at < SHOWN || chosen.includes(model.model));
  const isUnlisted = FULL_NAME.test(words.trim()) && !models.some(({ model }) => model === words.trim());
  const others = chosen.filter((name) => !models.some(({ model }) => model === name));
  const hint = wanted && !fitting.length && !isPartial ? hintForModel(words, models) : undefined;
  const toggle = (name: string) =>
    onChange(chosen.includes(name) ? chosen.filter((other) => other !== name) : [...chosen, name]);
  return (
    <div className="stack tight">
      <div className="search limited">
        <Search size={16} aria-hidden />
        <input
          className="input"
          type="search"
          aria-label={label}
          placeholder={label}
          value={words}
          spellCheck={false}
          onChange={(event) => setWords(event.target.value)}
        />
      </div>
      <ul className="picker" aria-label={label === "Find a model" ? "Models" : label}>
        {others.map((name) => (
          <Line key={name} name={name} isChosen onToggle={() => toggle(name)} />
        ))}
        {shown.map((model) => (
          <Line
            key={model.model}
            name={model.model}
            model={model}
            isChosen={chosen.includes(model.model)}
            onToggle={() => toggle(model.model)}
          />
        ))}
      </ul>
      {hint && (
        <p className="small warn" role="status">
          {hint}
        </p>
      )}
      <div className="row">
        {isUnlisted && (
          <Button
            small
            onPress={() => {
              toggle(words.trim());
              setWords("");
            }}
          >
            Take {words.trim()}
          </Button>
        )}
        {!wanted && shown.length < fitting.length && (
          <Button small variant="quiet" onPress={() => setLong(true)}>
            Show all {fitting.length} models
          </Button>
        )}
      </div>
    </div>
  );
}

/** Those that were chosen when the list opened, then those that a key opens, then the built-in ones. */
function rankOf(model: Model, first: ReadonlySet<string>): number {
  if (first.has(model.model)) return 0;
  if (!model.available) return 3;
  return model.provider === "local" ? 2 : 1;
}

interface LineProps {
  name: string;
  model?: Model;
  isChosen: boolean;
  onToggle: () => void;
}

function Line({ name, model, isChosen, onToggle }: LineProps) {
  return (
    <li>
      <label className="check picker-line priced">
        <input type="checkbox" checked={isChosen} disabled={model?.available === false} onChange={onToggle} />
        <span className="grow">{model ? modelAt(model) : name}</span>
        {model && <ModelFacts model={model} />}
      </label>
    </li>
  );
}
