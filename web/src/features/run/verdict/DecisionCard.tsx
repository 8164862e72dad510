import type { Report } from "../../../api/types";
import { useFormats } from "../../../app/context";
import { decisionOf } from "./decision";

/** Which one to take, in plain words, with the evidence that decides below. */
export function DecisionCard({ report }: { report: Report }) {
  const decision = decisionOf(report, useFormats());
  if (!decision) return null;
  const { headline, lines, leadsIn, leads } = decision;
  return (
    <div className="stack tight">
      <p className="sentence">{headline}</p>
      {lines.map((line) => (
        <p key={line}>{line}</p>
      ))}
      {leads.length > 0 && (
        <p className="small dim">
          Lead in {leadsIn}:{" "}
          {leads.map(({ rival, lead, isClear }, at) => (
            <span key={rival} className={isClear ? "" : "warn"}>
              {at > 0 && "; "}
              over {rival} <span className="num">{lead}</span>
              {!isClear && " (not clear)"}
            </span>
          ))}
          .
        </p>
      )}
    </div>
  );
}
