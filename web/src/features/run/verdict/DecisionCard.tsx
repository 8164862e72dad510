import type { Report } from "../../../api/types";
import { Mark } from "../../../components/Mark";
import { numbersIn } from "../../../lib/candidates";
import type { Decision } from "./decision";

/** Which one to take, in plain words, with the evidence that decides below. */
export function DecisionCard({ decision, report }: { decision: Decision; report: Report }) {
  const { headline, lines, leadsIn, leads } = decision;
  const numberOf = numbersIn(report.candidates);
  return (
    <div className="stack tight">
      <p className="sentence">{headline}</p>
      {lines.map(({ candidate, facts }) => (
        <p key={candidate}>
          <Mark number={numberOf(candidate)} /> <strong>{candidate}</strong>: {facts}
        </p>
      ))}
      {leads.length > 0 && (
        <p className="small dim">
          Lead in {leadsIn}:{" "}
          {leads.map(({ rival, lead, isClear }, at) => (
            <span key={rival} className={isClear ? "" : "warn"}>
              {at > 0 && "; "}
              over{" "}
              <span className="marked">
                <Mark number={numberOf(rival)} /> {rival}
              </span>{" "}
              <span className="num">{lead}</span>
              {!isClear && " (not clear)"}
            </span>
          ))}
          .
        </p>
      )}
    </div>
  );
}
