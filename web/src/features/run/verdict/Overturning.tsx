import { Link } from "@tanstack/react-router";
import type { Report, Run } from "../../../api/types";
import { unbroken } from "../../../lib/unbroken";
import { otherDoubtsOf } from "./outcome";

/** All other doubts, what was tried to overturn the verdict, and where the judges show what they are worth. */
export function Overturning({ run, report }: { run: Run; report: Report }) {
  const said = [...otherDoubtsOf(report), ...(report.verdict.checks ?? [])];
  if (!said.length) return null;
  return (
    <section className="card stack" aria-labelledby="overturning-title">
      <h2 id="overturning-title">Method, and what could overturn it</h2>
      <ul className="doubts">
        {said.map((one) => (
          <li key={one}>{unbroken(one)}</li>
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
