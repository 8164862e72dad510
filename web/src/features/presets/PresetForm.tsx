import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Plus } from "lucide-react";
import { ApiError, faultsAt } from "carrel-sdk";
import type { Candidate, GithubConnection, ContentSummary, DataSetColumn, Model, PresetIn } from "../../api/types";
import { dataSetsQuery, keysQuery } from "../../api/queries";
import { useApi } from "../../app/context";
import { Button } from "../../components/Button";
import { Note } from "../../components/Feedback";
import { Check, TextArea, TextField } from "../../components/Field";
import { TagsField } from "../../components/TagsField";
import type { Change } from "../../lib/useDraft";
import { CandidateCard } from "./CandidateCard";
import { ChecksPart } from "./ChecksPart";
import { CombinationPart } from "./CombinationPart";
import { chosenOf, type Faults, freeLabel, labelOf, NEW_LABEL, shortName, withBuiltIn } from "./draft";
import { DroppedParts } from "./DroppedParts";
import { HeadlineField } from "./HeadlineField";
import { InputsPart } from "./InputsPart";
import { JudgesPart } from "./JudgesPart";
import { LimitsPart } from "./LimitsPart";
import { OutputPart } from "./OutputPart";

interface Props {
  draft: PresetIn;
  onChange: (change: Change<PresetIn>) => void;
  faults: Faults;
  models: readonly Model[];
  documents: readonly ContentSummary[];
  connections: readonly GithubConnection[];
  error: unknown;
}

const NO_COLUMNS: readonly DataSetColumn[] = [];

export function PresetForm({ draft, onChange, faults, models, documents, connections, error }: Props) {
  const change = (part: Partial<PresetIn>) => onChange({ ...draft, ...part });
  const at = (path: string) => [
    ...new Set([...(faults.has(path) ? [faults.get(path) ?? ""] : []), ...faultsAt(error, path)]),
  ];
  const { candidates } = draft.generation;
  const chosen = useMemo(() => chosenOf(documents, draft.inputs), [documents, draft.inputs]);
  // Cards are not drawn anew for every change, so what they do begins with the draft of that moment.
  const setCandidates = (next: (before: Candidate[]) => Candidate[]) =>
    onChange((before) => ({
      ...before,
      generation: { ...before.generation, candidates: next(before.generation.candidates) },
    }));
  const add = (candidate: Candidate) =>
    setCandidates((before) => [...before, { ...candidate, label: freeLabel(labelOf(candidate), before.map(labelOf)) }]);
  const api = useApi();
  const dataSets = useQuery(dataSetsQuery(api)).data ?? [];
  const columns = draft.rows && dataSets.find(({ id }) => id === draft.rows?.data_set)?.columns;
  const keys = useQuery(keysQuery(api)).data?.items;
  const hasKeys = Boolean(keys?.length) || models.some(({ provider }) => provider !== "local");
  // With a key, the user names the model: nobody wants a built-in one by accident.
  const unused = hasKeys
    ? undefined
    : models.find(
        (model) =>
          model.available &&
          model.roles.includes("generate") &&
          !candidates.some((other) => other.model === model.model),
      );
  return (
    <form className="stack wide" onSubmit={(event) => event.preventDefault()} aria-label="Preset">
      <section className="card stack">
        <div data-part="name">
          <TextField
            label="Name"
            value={draft.name}
            maxLength={200}
            faults={draft.name ? at("name") : []}
            onChange={(event) => change({ name: event.target.value })}
            placeholder="Which summary is best?"
          />
        </div>
        <TagsField tags={draft.tags ?? []} faults={at("tags")} onChange={(tags) => change({ tags })} />
        <TextArea
          label="Description"
          rows={2}
          value={draft.description ?? ""}
          onChange={(event) => change({ description: event.target.value })}
        />
      </section>

      <InputsPart draft={draft} onChange={onChange} at={at} documents={documents} dataSets={dataSets} />

      <section className="stack" aria-labelledby="candidates-title" data-part="generation">
        <div className="row between">
          <h2 id="candidates-title">Candidates</h2>
          <div className="row" data-part="generation.candidates">
            <Button
              small
              onPress={() =>
                add(unused ? { label: shortName(unused.model), model: unused.model } : { label: NEW_LABEL })
              }
            >
              <Plus size={14} aria-hidden /> Candidate
            </Button>
            <Button small onPress={() => add(draft.rows ? finishedIn(columns) : { label: "today", existing: {} })}>
              <Plus size={14} aria-hidden /> {draft.rows ? "Finished answers" : "Existing texts"}
            </Button>
          </div>
        </div>
        <p className="dim small">
          A candidate is a model with its settings and its prompt. To compare two prompts, take the same model twice.
        </p>
        {candidates.length === 0 && (
          <Note>
            <p>
              {keys && !hasKeys && "No key of a model yet? "}The built-in candidates and judges need no key and cost
              nothing. They are no language models: they pick sentences out of the document, and count what the answers
              kept of it.
            </p>
            <div>
              <Button small onPress={() => onChange(withBuiltIn(draft, models))}>
                Take the built-in ones
              </Button>
            </div>
          </Note>
        )}
        {candidates.map((candidate, number) => (
          <CandidateCard
            key={number}
            candidate={candidate}
            path={`generation.candidates[${number}]`}
            told={toldOf(at, `generation.candidates[${number}]`, [...faults.keys(), ...pathsOf(error)])}
            at={at}
            models={models}
            documents={chosen}
            columns={draft.rows ? (columns ?? NO_COLUMNS) : undefined}
            onChange={(next) =>
              setCandidates((before) => before.map((other, index) => (index === number ? next(other, before) : other)))
            }
            onDuplicate={() => add(candidate)}
            onRemove={() => setCandidates((before) => before.filter((_, index) => index !== number))}
          />
        ))}
        <div className="columns card">
          <TextField
            label="Repeats"
            hint="So many answers of each candidate to each document."
            type="number"
            min={1}
            max={10}
            value={draft.generation.repeats ?? 1}
            faults={at("generation.repeats")}
            onChange={(event) =>
              change({ generation: { ...draft.generation, repeats: event.target.valueAsNumber || 1 } })
            }
          />
          <Check
            label="Tell the candidates what they will be judged by"
            checked={draft.generation.show_criteria ?? false}
            onChange={(event) => change({ generation: { ...draft.generation, show_criteria: event.target.checked } })}
          />
        </div>
      </section>

      <JudgesPart draft={draft} change={change} at={at} models={models} />
      <section className="card stack" aria-labelledby="checks-title">
        <h2 id="checks-title">Checks without a judge</h2>
        <ChecksPart checks={draft.checks ?? []} onChange={(checks) => change({ checks })} at={at} />
        <HeadlineField draft={draft} onChange={(headline) => change({ headline: headline ?? null })} at={at} />
        <DroppedParts dropped={draft.dropped} />
      </section>
      <CombinationPart draft={draft} change={change} at={at} models={models} />
      <OutputPart draft={draft} change={change} at={at} connections={connections} />
      <LimitsPart draft={draft} change={change} at={at} />
    </form>
  );
}

/** A candidate whose answers stand in a column; a column of answers rather than another one. */
function finishedIn(columns: readonly DataSetColumn[] | null | undefined): Candidate {
  const found = columns?.find(({ role }) => role === "output")?.name ?? null;
  return { label: found ?? "today", column: found };
}

/** What is said of the fields below a path, as one text. */
function toldOf(at: (path: string) => string[], path: string, paths: readonly string[]): string {
  return paths
    .filter((one) => one.startsWith(path))
    .flatMap((one) => [one, ...at(one)])
    .join("\n");
}

function pathsOf(error: unknown): string[] {
  return error instanceof ApiError ? error.faults.map(({ path }) => path) : [];
}
