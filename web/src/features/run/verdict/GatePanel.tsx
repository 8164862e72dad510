import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { GateResult, Report, Run } from "../../../api/types";
import { useApi, useFormats } from "../../../app/context";
import { SelectField } from "../../../components/Field";
import { NumberHead } from "../../../components/NumberHead";
import { QueryView } from "../../../components/QueryView";
import { Scroll } from "../../../components/Scroll";
import { range, signed } from "../../../lib/intervals";
import { earlierRound, gateQuery, type GateQuestion } from "../queries";

const MARGINS = [1, 2, 5, 10, 20];
const CUSTOMARY_MARGIN = 5;
const OUTCOMES: Record<GateResult["outcome"], { label: string; tone: string }> = {
  better: { label: "Better", tone: "good" },
  not_worse: { label: "Not worse", tone: "good" },
  worse: { label: "Worse", tone: "bad" },
  undecided: { label: "Cannot be told", tone: "warn" },
};
const SOURCES: Record<GateResult["sources"][number]["kind"], string> = {
  comparisons: "Pairs with the baseline",
  scores: "Mean score",
  required: "Passes every required check",
  checks: "Mean of all checks",
  check: "Check",
  macro_f1: "Macro F1",
};

/** Asks of two candidates whether the one is worse than the other by a margin; nothing where there are no two. */
export function GatePanel({ run, report }: { run: Run; report: Report }) {
  const labels = report.candidates.map(({ candidate }) => candidate);
  const [baseline, setBaseline] = useState("");
  const [candidate, setCandidate] = useState("");
  const [points, setPoints] = useState(CUSTOMARY_MARGIN);
  if (labels.length < 2) return null;
  const others = labels.filter((label) => label !== baseline);
  const asked = others.length === 1 ? others[0] : others.find((label) => label === candidate);
  return (
    <section className="stack" aria-labelledby="gate-title">
      <h2 id="gate-title">Is a change worse?</h2>
      <div className="columns narrow-columns">
        <SelectField label="Baseline" value={baseline} onChange={(event) => setBaseline(event.target.value)}>
          <option value="">Choose</option>
          {labels.map((label) => (
            <option key={label} value={label}>
              {label}
            </option>
          ))}
        </SelectField>
        {baseline && others.length > 1 && (
          <SelectField label="Candidate" value={asked ?? ""} onChange={(event) => setCandidate(event.target.value)}>
            <option value="">Choose</option>
            {others.map((label) => (
              <option key={label} value={label}>
                {label}
              </option>
            ))}
          </SelectField>
        )}
        <SelectField
          label="Too much worse is"
          value={points}
          onChange={(event) => setPoints(Number(event.target.value))}
        >
          {MARGINS.map((margin) => (
            <option key={margin} value={margin}>
              {margin === 1 ? "1 point" : `${margin} points`}
            </option>
          ))}
        </SelectField>
      </div>
      {baseline && asked ? (
        <Answer
          runId={run.id}
          round={earlierRound(report)}
          question={{ baseline, candidate: asked, margin: points / 100 }}
        />
      ) : (
        <p className="small dim">
          Choose what you use today as the baseline. The answer comes from the judges and the checks, and costs no call.
        </p>
      )}
    </section>
  );
}

interface AnswerProps {
  runId: string;
  round: number | undefined;
  question: GateQuestion;
}

function Answer({ runId, round, question }: AnswerProps) {
  const query = useQuery(gateQuery(useApi(), runId, question, round));
  return (
    <QueryView query={query}>
      {(result) => (
        <div className="card stack">
          <div className="row tight" role="status">
            <span className={`chip ${OUTCOMES[result.outcome].tone}`}>{OUTCOMES[result.outcome].label}</span>
            <span>{result.sentence}</span>
          </div>
          {result.sources.length > 0 && <Sources sources={result.sources} />}
        </div>
      )}
    </QueryView>
  );
}

function Sources({ sources }: Pick<GateResult, "sources">) {
  const formats = useFormats();
  const written = (kind: keyof typeof SOURCES) => (share: number) =>
    kind === "comparisons" ? formats.percent(0.5 + share) : signed(100 * share, formats, 1);
  return (
    <Scroll isPlain label="What says so">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">By</th>
            <th scope="col">Says</th>
            <NumberHead>Won, or points</NumberHead>
            <NumberHead>One-sided bounds</NumberHead>
            <NumberHead>Documents</NumberHead>
            <NumberHead>Would tell</NumberHead>
          </tr>
        </thead>
        <tbody>
          {sources.map(({ kind, name, decides, change }) => (
            <tr key={`${kind} ${name}`}>
              <th scope="row">
                {SOURCES[kind]} {name}
                {!decides && <span className="dim small block">can only object</span>}
              </th>
              <td>{OUTCOMES[change?.outcome ?? "undecided"].label}</td>
              <td className="n">{change ? written(kind)(change.difference) : "–"}</td>
              <td className="n">{change ? range(change.low, change.high, written(kind)) : "–"}</td>
              <td className="n">{formats.integer(change?.documents ?? 0)}</td>
              <td className="n">{change?.needed ? `about ${formats.integer(change.needed)}` : "–"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
