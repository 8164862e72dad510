import { Link } from "@tanstack/react-router";
import type { DryRun } from "../../api/types";
import { useFormats } from "../../app/context";
import { EndingsNote } from "../../components/EndingsNote";
import { Note } from "../../components/Feedback";
import { expected, priced } from "../../lib/spend";
import { unbroken } from "../../lib/unbroken";
import { enoughInWords } from "./enough";

const PARTS = [
  ["generate", "answers"],
  ["score", "scores"],
  ["compare", "looks at pairs"],
  ["combine", "combinations"],
] as const;

/** How many calls a run would make, what it would cost, and what its documents can decide. */
export function Estimate({ estimate }: { estimate: DryRun }) {
  const formats = useFormats();
  const { calls, power, likely_cost, worst_cost, documents, candidates, stopping, saving, economy } = estimate;
  const part = estimate.known_part;
  const isFree = worst_cost !== null && Number(worst_cost) === 0;
  const plainly = enoughInWords(power, formats);
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
          {...(part
            ? expected(part.likely_cost, part.likely_unknown_calls, formats)
            : { value: likely_cost === null ? "unknown" : priced(likely_cost, formats.briefDollars) })}
        />
        <Figure
          name="At worst"
          {...(part
            ? expected(part.worst_cost, part.worst_unknown_calls, formats)
            : { value: worst_cost === null ? "unknown" : priced(worst_cost, formats.briefDollars) })}
        />
        {economy && !isFree && economy.likely_cost !== null && economy.likely_cost_at_once !== null && (
          <Figure
            name="In batches"
            value={formats.briefDollars(economy.likely_cost)}
            hint={`${formats.briefDollars(economy.likely_cost_at_once)} at once`}
          />
        )}
        <Figure name="Documents" value={formats.integer(documents)} hint={formats.counted(candidates, "candidate")} />
        {saving && (
          <Figure
            name="Likely saved"
            value={formats.counted(saving.calls, "call")}
            hint={[
              !isFree && saving.cost !== null ? `about ${formats.briefDollars(saving.cost)}` : "",
              "if the best is preferred in 69 %",
            ]
              .filter(Boolean)
              .join(", ")}
          />
        )}
      </dl>
      {part && part.unpriced_models.length > 0 && <Unpriced models={part.unpriced_models} />}
      <Note tone={enough ? "good" : "warn"}>
        {plainly && <p>{plainly}</p>}
        <p className={plainly ? "small dim" : ""}>{unbroken(power.sentence)}</p>
      </Note>
      {estimate.over_budget && <Note tone="warn">{estimate.over_budget}</Note>}
      <EndingsNote endings={estimate.endings ?? []} />
      {stopping && <Note>{stopping}</Note>}
    </div>
  );
}

const NAMED = 3;

/** Where to say what these models cost, and what a budget does until then. */
function Unpriced({ models }: { models: readonly string[] }) {
  return (
    <Note>
      <p>
        {models.length === 1 ? "The price of a model is" : "Some prices are"} not known, and a budget needs them all.
        Say what your own key pays:
      </p>
      <ul className="names small">
        {models.slice(0, NAMED).map((model) => (
          <li key={model}>
            <Link to="/models" search={{ tab: "prices", find: model }}>
              {model}
            </Link>
          </li>
        ))}
        {models.length > NAMED && (
          <li>
            <Link to="/models" search={{ tab: "prices" }}>
              and {models.length - NAMED} more
            </Link>
          </li>
        )}
      </ul>
    </Note>
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
