import type { GithubConnection, ContentSummary, Model, PresetIn } from "../../../api/types";
import { Disclosure } from "../../../components/Disclosure";
import { Check, TextArea, TextField } from "../../../components/Field";
import { TagsField } from "../../../components/TagsField";
import { ChecksPart } from "../ChecksPart";
import { CombinationPart } from "../CombinationPart";
import { chosenOf, shortName } from "../draft";
import { DroppedParts } from "../DroppedParts";
import { GroupsField } from "../GroupsField";
import { HeadlineField } from "../HeadlineField";
import { JudgesPart } from "../JudgesPart";
import { LimitsPart } from "../LimitsPart";
import { OutputPart } from "../OutputPart";
import { References } from "../References";

interface Props {
  /** The preset as it would be saved now. */
  preset: PresetIn;
  name: string;
  onName: (name: string) => void;
  change: (part: Partial<PresetIn>) => void;
  at: (path: string) => string[];
  models: readonly Model[];
  documents: readonly ContentSummary[];
  connections: readonly GithubConnection[];
}

/** Everything that has a good default: folded away, and a line says what holds. */
export function MoreStep({ preset, name, onName, change, at, models, documents, connections }: Props) {
  const { comparison, scoring } = preset;
  const judges = (comparison ?? scoring)?.judges ?? [];
  const how = [comparison ? "pairs, both orders" : "", scoring ? "scores by criteria" : ""].filter(Boolean).join(", ");
  const chosen = chosenOf(documents, preset.inputs);
  return (
    <section className="card stack tight" aria-label="How they are judged, and more">
      <Disclosure
        title="Judges and criteria"
        summary={`${how || "nothing yet"} · ${judges.map(({ model }) => shortName(model)).join(" and ") || "no judge"}`}
      >
        <JudgesPart draft={preset} change={change} at={at} models={models} />
      </Disclosure>
      <Disclosure title="Checks without a judge" summary={checksIn(preset) || "none"}>
        <ChecksPart checks={preset.checks ?? []} onChange={(checks) => change({ checks })} at={at} />
        <HeadlineField draft={preset} onChange={(headline) => change({ headline: headline ?? null })} at={at} />
        <DroppedParts dropped={preset.dropped} />
      </Disclosure>
      <Disclosure title="Name, groups and references" summary={preset.name}>
        <div className="stack">
          <TextField
            label="Name"
            value={name}
            placeholder={preset.name}
            maxLength={200}
            onChange={(event) => onName(event.target.value)}
          />
          <TagsField tags={preset.tags ?? []} faults={at("tags")} onChange={(tags) => change({ tags })} />
          <TextArea
            label="Description"
            rows={2}
            value={preset.description ?? ""}
            onChange={(event) => change({ description: event.target.value })}
          />
          {!preset.rows && (
            <>
              <GroupsField groups={preset.groups} onChange={(groups) => change({ groups: groups ?? null })} at={at} />
              <References
                references={preset.references ?? {}}
                documents={chosen}
                faults={at("references")}
                onChange={(references) => change({ references })}
              />
            </>
          )}
        </div>
      </Disclosure>
      <Disclosure title="Repeats, limits and where answers go" summary={restIn(preset)}>
        <div className="stack">
          <TextField
            label="Repeats: answers of each candidate to each document"
            type="number"
            min={1}
            max={10}
            value={preset.generation.repeats ?? 1}
            faults={at("generation.repeats")}
            onChange={(event) =>
              change({ generation: { ...preset.generation, repeats: event.target.valueAsNumber || 1 } })
            }
          />
          <Check
            label="Tell the candidates what they will be judged by"
            checked={preset.generation.show_criteria ?? false}
            onChange={(event) => change({ generation: { ...preset.generation, show_criteria: event.target.checked } })}
          />
          <LimitsPart draft={preset} change={change} at={at} />
          <CombinationPart draft={preset} change={change} at={at} models={models} />
          <OutputPart draft={preset} change={change} at={at} connections={connections} />
        </div>
      </Disclosure>
    </section>
  );
}

function checksIn({ checks = [], dropped = [] }: PresetIn): string {
  const left = dropped.reduce((sum, { count }) => sum + count, 0);
  return [...checks.map(({ name, kind }) => name || kind), ...(left ? [`${left} left out`] : [])].join(", ");
}

const PLACES = { none: "stay in the run", library: "go to the library", github: "go to GitHub" };

function restIn({ generation, limits, combination, output }: PresetIn): string {
  return [
    (generation.repeats ?? 1) > 1 && `${generation.repeats} repeats`,
    limits?.budget ? `at most $${limits.budget}` : "no budget",
    combination && "the best combined",
    `answers ${PLACES[output?.destination ?? "none"]}`,
  ]
    .filter(Boolean)
    .join(", ");
}
