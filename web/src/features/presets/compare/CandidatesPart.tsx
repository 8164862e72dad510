import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { ApiError } from "carrel-sdk";
import type { Candidate, ContentSummary, DataSetColumn, Model, PresetIn } from "../../../api/types";
import { dataSetsQuery } from "../../../api/queries";
import { useApi } from "../../../app/context";
import { Button } from "../../../components/Button";
import { Disclosure } from "../../../components/Disclosure";
import { CandidateCard } from "../CandidateCard";
import { type Faults, freeLabel, labelOf, NEW_LABEL } from "../draft";

interface Props {
  preset: PresetIn;
  /** They say more than models and prompts can. */
  isOneByOne: boolean;
  at: (path: string) => string[];
  faults: Faults;
  error: unknown;
  models: readonly Model[];
  documents: readonly ContentSummary[];
  onChange: (next: (before: Candidate[]) => Candidate[]) => void;
}

const NO_COLUMNS: readonly DataSetColumn[] = [];

/** The candidates one by one: their settings, instructions of their own, and finished texts. */
export function CandidatesPart({ preset, isOneByOne, at, faults, error, models, documents, onChange }: Props) {
  const dataSets = useQuery(dataSetsQuery(useApi())).data ?? [];
  const { rows, generation } = preset;
  const { candidates } = generation;
  const columns = rows && dataSets.find(({ id }) => id === rows.data_set)?.columns;
  const add = (candidate: Candidate) =>
    onChange((before) => [...before, { ...candidate, label: freeLabel(labelOf(candidate), before.map(labelOf)) }]);
  return (
    <div data-part="generation.candidates">
      <Disclosure
        title="Candidates one by one"
        summary={
          isOneByOne ? candidates.map(labelOf).join(", ") : "settings, instructions of their own, and finished texts"
        }
        isLazy
      >
        <div className="stack">
          {candidates.map((candidate, number) => (
            <CandidateCard
              key={number}
              candidate={candidate}
              path={`generation.candidates[${number}]`}
              told={toldOf(at, `generation.candidates[${number}]`, [...faults.keys(), ...pathsOf(error)])}
              at={at}
              models={models}
              documents={documents}
              columns={rows ? (columns ?? NO_COLUMNS) : undefined}
              onChange={(next) =>
                onChange((before) => before.map((other, index) => (index === number ? next(other, before) : other)))
              }
              onDuplicate={() => add(candidate)}
              onRemove={() => onChange((before) => before.filter((_, index) => index !== number))}
            />
          ))}
          <div className="row">
            <Button small onPress={() => add({ label: NEW_LABEL })}>
              <Plus size={14} aria-hidden /> Candidate
            </Button>
            <Button small onPress={() => add(rows ? finishedIn(columns) : { label: "today", existing: {} })}>
              <Plus size={14} aria-hidden /> {rows ? "Finished answers" : "Existing texts"}
            </Button>
          </div>
        </div>
      </Disclosure>
    </div>
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
