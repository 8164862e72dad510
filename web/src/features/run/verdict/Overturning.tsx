import { Link } from "@tanstack/react-router";
import type { Report, Run } from "../../../api/types";
import { unbroken } from "../../../lib/unbroken";

/** What was tried to overturn the verdict, with and without success, and where the judges show what they are worth. */
export function Overturning({ run, report }: { run: Run; report: Report }) {
  const checks = report.verdict.checks ?? [];
  if (!checks.length) return null;
  return (
    <section className="card stack" aria-labelledby="overturning-title">
      <h2 id="overturning-title">What could overturn it</h2>
      <ul className="doubts">
        {checks.map((check) => (
          <li key={check}>{unbroken(check)}</li>
        ))}
      </ul>
      <p className="small dim">
        How far each judge can be trusted stands in{" "}
        <Link to="/runs/$runId" params={{ runId: run.id }} search={{ tab: "judges" }}>
          its passport from this comparison
        </Link>{" "}
        and in{" "}
        <Link to="/models" search={{ tab: "judges" }}>
          its passport over all comparisons
        </Link>
        .
      </p>
    </section>
  );
}
