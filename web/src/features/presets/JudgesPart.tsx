import { Plus, Trash2 } from "lucide-react";
import type { Judge, Model, PresetIn } from "../../api/types";
import { useDefaultJudges } from "../../api/useDefaultJudges";
import { Button, IconButton } from "../../components/Button";
import { Check, TextField } from "../../components/Field";
import { ModelSelect } from "../../components/ModelSelect";
import { ContentSelect } from "./ContentSelect";
import { isUnjudged } from "./draft";

/** With fewer documents no run stops early. */
const EARLY_FROM = 13;

interface Props {
  draft: PresetIn;
  change: (part: Partial<PresetIn>) => void;
  at: (path: string) => string[];
  models: readonly Model[];
}

/**
 * Scoring and comparing, each with its judges. The one that is turned on starts with the judges of the other, or with
 * those by default.
 */
export function JudgesPart({ draft, change, at, models }: Props) {
  const { scoring, comparison, checks } = draft;
  const byDefault = useDefaultJudges(draft.generation.candidates.flatMap(({ model }) => model ?? []));
  const proposed = byDefault?.judges.map(({ model }) => model) ?? [];
  const chosen = (comparison ?? scoring)?.judges ?? [];
  const judges = chosen.length ? chosen : proposed.map((model) => ({ model }));
  return (
    <section className="stack" aria-labelledby="judges-title">
      <h2 id="judges-title">Judging</h2>
      {at("scoring").map(
        (fault) =>
          !scoring &&
          !comparison && (
            <p key={fault} className="bad small">
              {fault}
            </p>
          ),
      )}
      {byDefault && <p className="small dim">By default: {byDefault.sentence}</p>}
      {isUnjudged(draft) && !checks?.length && (
        <p className="small dim">
          Without judges, a run only makes the answers: nothing is compared, and nobody is called best. Judges can judge
          them later.
        </p>
      )}
      {/* What is changed before it is known who judges would be kept with nobody. */}
      <fieldset className="stack" disabled={!judges.length && !byDefault}>
        <div className="card stack" data-part="comparison">
          <Check
            label={<strong>Compare answers two by two, in both orders</strong>}
            checked={Boolean(comparison)}
            onChange={(event) => change({ comparison: event.target.checked ? { judges } : null })}
          />
          {comparison && (
            <>
              <JudgeList
                judges={comparison.judges}
                path="comparison.judges"
                at={at}
                models={models}
                proposed={proposed}
                onChange={(judges) => change({ comparison: { ...comparison, judges } })}
              />
              <div className="columns">
                <TextField
                  label="Compare the best by score"
                  hint="How many of them; empty: as many as the documents can tell apart."
                  type="number"
                  min={2}
                  max={20}
                  value={comparison.finalists ?? ""}
                  faults={at("comparison.finalists")}
                  onChange={(event) =>
                    change({ comparison: { ...comparison, finalists: event.target.valueAsNumber || null } })
                  }
                />
                <div data-part="comparison.instructions">
                  <ContentSelect
                    label="Question to the judges"
                    type="comparison_instructions"
                    value={comparison.instructions ?? null}
                    onChange={(instructions) => change({ comparison: { ...comparison, instructions } })}
                    faults={at("comparison.instructions")}
                    none="The built-in question"
                  />
                </div>
              </div>
              <div>
                <Check
                  label="Stop once it is decided"
                  aria-describedby="stopping-hint"
                  checked={comparison.stop_when_decided ?? false}
                  onChange={(event) =>
                    change({ comparison: { ...comparison, stop_when_decided: event.target.checked } })
                  }
                />
                <p id="stopping-hint" className="small dim">
                  Saves calls where one candidate is clearly best, and calls nobody any more for candidates that are
                  beaten. The run looks a few times on its way and is stricter each time than at a single look, so a
                  small lead takes more documents to find.
                  {draft.combination
                    ? " Where answers are combined, everything is compared."
                    : !draft.rows && (draft.inputs ?? []).length < EARLY_FROM
                      ? ` With fewer than ${EARLY_FROM} documents, everything is compared.`
                      : ""}
                </p>
              </div>
            </>
          )}
        </div>
        <div className="card stack" data-part="scoring">
          <Check
            label={<strong>Score each answer by criteria</strong>}
            checked={Boolean(scoring)}
            onChange={(event) => change({ scoring: event.target.checked ? { criteria: "", judges } : null })}
          />
          {scoring && (
            <>
              <JudgeList
                judges={scoring.judges}
                path="scoring.judges"
                at={at}
                models={models}
                proposed={proposed}
                onChange={(judges) => change({ scoring: { ...scoring, judges } })}
              />
              <div className="columns">
                <ContentSelect
                  label="Criteria"
                  type="criteria"
                  value={scoring.criteria || null}
                  onChange={(criteria) => change({ scoring: { ...scoring, criteria: criteria ?? "" } })}
                  faults={at("scoring.criteria")}
                  none="Choose"
                />
                <ContentSelect
                  label="Question to the judges"
                  type="scoring_instructions"
                  value={scoring.instructions ?? null}
                  onChange={(instructions) => change({ scoring: { ...scoring, instructions } })}
                  faults={at("scoring.instructions")}
                  none="The built-in question"
                />
              </div>
            </>
          )}
        </div>
      </fieldset>
    </section>
  );
}

interface ListProps {
  judges: readonly Judge[];
  path: string;
  at: (path: string) => string[];
  models: readonly Model[];
  /** Who judges by default. */
  proposed: readonly string[];
  onChange: (judges: Judge[]) => void;
}

function JudgeList({ judges, path, at, models, proposed, onChange }: ListProps) {
  const set = (number: number, part: Partial<Judge>) =>
    onChange(judges.map((judge, index) => (index === number ? { ...judge, ...part } : judge)));
  const taken = new Set(judges.map((judge) => judge.model));
  const next = proposed.find((model) => !taken.has(model));
  return (
    <div className="stack tight">
      {judges.map((judge, number) => (
        <div key={number} className="judge-line">
          <ModelSelect
            label={`Judge ${number + 1}`}
            value={judge.model}
            does="judge"
            models={models}
            faults={at(`${path}[${number}].model`)}
            onChange={(model) => set(number, { model })}
          />
          <TextField
            label="Weight"
            type="number"
            min={0.1}
            max={1000}
            step={0.1}
            value={judge.weight ?? 1}
            faults={at(`${path}[${number}].weight`)}
            onChange={(event) => set(number, { weight: event.target.valueAsNumber || 1 })}
          />
          <IconButton
            label={`Remove judge ${number + 1}`}
            icon={<Trash2 size={16} aria-hidden />}
            onPress={() => onChange(judges.filter((_, index) => index !== number))}
          />
        </div>
      ))}
      {!judges.length &&
        at(path).map((fault) => (
          <p key={fault} className="small dim">
            {fault}
          </p>
        ))}
      <div>
        <Button small onPress={() => onChange([...judges, { model: next ?? "" }])}>
          <Plus size={14} aria-hidden /> Judge
        </Button>
      </div>
    </div>
  );
}
