import type { DryRun } from "../../api/types";
import { useFormats } from "../../app/context";
import { Note } from "../../components/Feedback";

const PARTS = [
  ["generate", "answers"],
  ["score", "scores"],
  ["compare", "comparisons"],
  ["combine", "combinations"],
] as const;

/** How many calls a run would make, what it would cost, and what its documents can decide. */
export function Estimate({ estimate }: { estimate: DryRun }) {
  const formats = useFormats();
  const { calls, power, likely_cost, worst_cost, documents, candidates, stopping, saving, economy } = estimate;
  const isFree = worst_cost !== null && Number(worst_cost) === 0;
  const enough = power.documents_enough === null || power.documents >= power.documents_enough;
  return (
    <div className="stack">
      <dl className="figures">
        <Figure
          name="Calls"
          value={formats.integer(calls.total)}
          hint={PARTS.flatMap(([part, words]) =>
            calls[part] ? [`${formats.integer(calls[part])} ${words}`] : [],
          ).join(", ")}
        />
        <Figure
          name="Likely cost"
          value={isFree ? "nothing" : likely_cost === null ? "unknown" : formats.dollars(likely_cost)}
        />
        <Figure
          name="At worst"
          value={isFree ? "nothing" : worst_cost === null ? "unknown" : formats.dollars(worst_cost)}
        />
        {economy && !isFree && economy.likely_cost !== null && economy.likely_cost_at_once !== null && (
          <Figure
            name="In batches"
            value={formats.dollars(economy.likely_cost)}
            hint={`${formats.dollars(economy.likely_cost_at_once)} at once`}
          />
        )}
        <Figure
          name="Documents"
          value={formats.integer(documents)}
          hint={`${formats.integer(candidates)} candidates`}
        />
        {saving && (
          <Figure
            name="Likely saved"
            value={`${formats.integer(saving.calls)} calls`}
            hint={[
              !isFree && saving.cost !== null ? `about ${formats.dollars(saving.cost)}` : "",
              "if the best is preferred in 69 %",
            ]
              .filter(Boolean)
              .join(", ")}
          />
        )}
      </dl>
      <Note tone={enough ? "good" : "warn"}>{power.sentence}</Note>
      {stopping && <Note>{stopping}</Note>}
    </div>
  );
}

function Figure({ name, value, hint }: { name: string; value: string; hint?: string }) {
  return (
    <div className="figure">
      <dt>{name}</dt>
      <dd>{value}</dd>
      {hint && <dd className="dim hint">{hint}</dd>}
    </div>
  );
}
