import type { DocumentReport } from "../../../api/types";

type Verdict = NonNullable<DocumentReport["verdicts"]>[number];

const FATES: Record<Verdict["fate"], { label: string; tone: string }> = {
  agreed: { label: "same in both orders", tone: "good" },
  flip: { label: "flipped with the order", tone: "warn" },
  inconsistent: { label: "inconsistent", tone: "warn" },
  by_rule: { label: "decided by rule", tone: "" },
  invalid: { label: "invalid", tone: "bad" },
  missing: { label: "missing", tone: "" },
};

/** What the judges said of two candidates, both orders beside each other. */
export function VerdictList({ document, a, b }: { document: DocumentReport; a: string; b: string }) {
  const verdicts = document.verdicts?.filter((verdict) => isAbout(verdict, a, b)) ?? [];
  if (a === b) return <p className="dim">Choose two different candidates to see what judges said of them.</p>;
  if (!verdicts.length) return <p className="dim">These two were not compared on this document.</p>;
  return (
    <section className="stack" aria-labelledby="said-title">
      <h2 id="said-title">What the judges said</h2>
      {verdicts.map((verdict) => {
        const fate = FATES[verdict.fate];
        return (
          <article
            key={`${verdict.judge} ${verdict.repeat}`}
            className={`card stack ${verdict.fate === "flip" ? "flip" : ""}`}
          >
            <div className="row">
              <h3>{verdict.judge}</h3>
              <span className={`chip ${fate.tone}`}>{fate.label}</span>
            </div>
            {verdict.fate === "by_rule" ? (
              <p>
                {verdict.by_rule === "tie"
                  ? "A tie without a call."
                  : `For ${verdict.by_rule === "a" ? verdict.a : verdict.b}, without a call.`}
              </p>
            ) : (
              <div className="columns">
                <Order first={verdict.a} second={verdict.b} verdict={verdict.ab} said={verdict.said_ab} />
                <Order first={verdict.b} second={verdict.a} verdict={verdict.ba} said={verdict.said_ba} />
              </div>
            )}
          </article>
        );
      })}
    </section>
  );
}

function Order({
  first,
  second,
  verdict,
  said,
}: {
  first: string;
  second: string;
  verdict: Verdict["ab"];
  said: string | null;
}) {
  return (
    <div className="stack tight">
      <p className="small dim">
        First {first}, then {second}
      </p>
      <p>
        <strong>{words(verdict, first, second)}</strong>
      </p>
      {said && <p className="small prewrap">{said}</p>}
    </div>
  );
}

function words(verdict: Verdict["ab"], first: string, second: string): string {
  if (verdict === "first") return `${first} is better`;
  if (verdict === "second") return `${second} is better`;
  if (verdict === "tie") return "A tie";
  return verdict === "invalid" ? "No valid answer" : "No judgement";
}

function isAbout(verdict: Verdict, a: string, b: string): boolean {
  return (verdict.a === a && verdict.b === b) || (verdict.a === b && verdict.b === a);
}
