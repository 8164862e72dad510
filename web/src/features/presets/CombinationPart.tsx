import type { Model, PresetIn } from "../../api/types";
import { Check, TextField } from "../../components/Field";
import { ModelSelect } from "../../components/ModelSelect";
import { ContentSelect } from "./ContentSelect";

interface Props {
  draft: PresetIn;
  change: (part: Partial<PresetIn>) => void;
  at: (path: string) => string[];
  models: readonly Model[];
}

/** The best answers to each document made into one more, which is judged like any other. */
export function CombinationPart({ draft, change, at, models }: Props) {
  const { combination } = draft;
  const first = combination?.candidates[0];
  return (
    <section className="card stack" aria-label="Combining" data-part="combination">
      <Check
        label={<strong>Combine the best answers into one more</strong>}
        checked={Boolean(combination)}
        onChange={(event) =>
          change({
            combination: event.target.checked ? { sources: 2, candidates: [{ label: "combined", model: "" }] } : null,
          })
        }
      />
      {combination && first && (
        <>
          <div className="columns">
            <ModelSelect
              label="Model that combines"
              value={first.model ?? ""}
              does="generate"
              models={models}
              faults={at("combination.candidates")}
              onChange={(model) =>
                change({
                  combination: {
                    ...combination,
                    candidates: [{ ...first, model: model || null }, ...combination.candidates.slice(1)],
                  },
                })
              }
            />
            <TextField
              label="Answers that go in"
              type="number"
              min={2}
              max={20}
              value={combination.sources ?? 2}
              faults={at("combination.sources")}
              onChange={(event) =>
                change({ combination: { ...combination, sources: event.target.valueAsNumber || 2 } })
              }
            />
          </div>
          <ContentSelect
            label="Instructions"
            type="combination_instructions"
            value={combination.instructions ?? null}
            onChange={(instructions) => change({ combination: { ...combination, instructions } })}
            faults={at("combination.instructions")}
            none="The built-in instructions"
          />
        </>
      )}
    </section>
  );
}
