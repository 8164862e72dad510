import { KeyRound } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { KnownModels } from "../../../api/useModels";
import { Button } from "../../../components/Button";
import { KeyForm } from "../../../components/keys/KeyForm";
import { KeyOutcome } from "../../../components/keys/KeyOutcome";
import { useKeys } from "../../../components/keys/useKeys";
import { ModelPicker } from "../../../components/ModelPicker";
import { Scroll } from "../../../components/Scroll";
import { shortName } from "../draft";
import { cellOf, letterOf, modelsOf, type Setup, withModels } from "./setup";

interface Props {
  setup: Setup;
  known: KnownModels;
  onChange: (change: Partial<Setup>) => void;
  children: ReactNode;
}

/** Who competes: models, and with several prompts the cells of models and prompts. */
export function ModelsStep({ setup, known, onChange, children }: Props) {
  const [isAdding, setAdding] = useState(false);
  // Who comes back to a set-up with models is not asked for a key.
  const [hadModels] = useState(modelsOf(setup).length > 0);
  const { test } = useKeys();
  const hasKeys = known.models.some(({ provider, available }) => available && provider !== "local");
  return (
    <section className="card stack" aria-labelledby="models-title" data-part="generation">
      <h2 id="models-title">3 · Who competes</h2>
      {setup.rows && setup.answers?.length && !setup.candidates ? (
        <p role="status">
          <strong>
            <bdi>{setup.answers.join(", ")}</bdi>
          </strong>{" "}
          {setup.answers.length === 1 ? "competes with its" : "compete with their"} finished answers.
        </p>
      ) : null}
      <ModelPicker
        models={known.models}
        chosen={modelsOf(setup)}
        isPartial={known.isPartial}
        onChange={(models) => onChange(withModels(setup, models))}
      />
      {!hasKeys && !known.isPartial && (
        <p className="small dim">
          Without a key, only built-in summarisers compete: they pick sentences out of the document and cost nothing.
        </p>
      )}
      {isAdding || (!hadModels && !hasKeys && !known.isPartial) ? (
        <KeyForm
          title="Let language models compete: your key of a provider"
          onStored={(provider) => {
            setAdding(false);
            test.mutate(provider);
          }}
        />
      ) : (
        <div>
          <Button small variant="quiet" onPress={() => setAdding(true)}>
            <KeyRound size={14} aria-hidden /> Another provider
          </Button>
        </div>
      )}
      {test.data && <KeyOutcome provider={test.variables} outcome={test.data} />}
      {!setup.candidates && setup.prompts.length > 1 && setup.models.length > 0 && (
        <Grid setup={setup} onChange={onChange} />
      )}
      {children}
    </section>
  );
}

function Grid({ setup, onChange }: Pick<Props, "setup" | "onChange">) {
  const { models, prompts, off } = setup;
  const toggle = (cell: string) =>
    onChange({ off: off.includes(cell) ? off.filter((other) => other !== cell) : [...off, cell] });
  return (
    <Scroll isPlain label="Models and prompts">
      <table className="table middle">
        <thead>
          <tr>
            <th scope="col">Model</th>
            {prompts.map((_, number) => (
              <th key={number} scope="col">
                Prompt {letterOf(number)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {models.map((model) => (
            <tr key={model}>
              <th scope="row">{shortName(model)}</th>
              {prompts.map((_, number) => {
                const cell = cellOf(model, number);
                return (
                  <td key={number}>
                    <input
                      type="checkbox"
                      aria-label={`${shortName(model)} with prompt ${letterOf(number)}`}
                      checked={!off.includes(cell)}
                      onChange={() => toggle(cell)}
                    />
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
