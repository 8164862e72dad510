import { lazy, Suspense } from "react";
import type { Report, Run } from "../../../api/types";
import { Skeleton } from "../../../components/Feedback";
import { Glossary } from "../../../components/Glossary";
import { part } from "../../../lib/part";
import { hasEnded } from "../../../lib/states";
import { unbroken } from "../../../lib/unbroken";
import { AgainstPanel } from "./AgainstPanel";
import { measureOf } from "../../../lib/interval";
import { earlierRound } from "../queries";
import { GatePanel } from "./GatePanel";
import { LooksTable } from "./LooksTable";
import { doubtOf, sentenceOf } from "./outcome";
import { Overturning } from "./Overturning";
import { SpendTable } from "./SpendTable";
import { SplitPanel } from "./SplitPanel";
import { NoVerdictYet, VerdictFacts } from "./VerdictFacts";

// Charts are the heaviest part of the app, and only this panel has one.
const QualityChart = lazy(
  part(() => import("../../../components/quality/QualityChart").then((m) => ({ default: m.QualityChart }))),
);

interface Props {
  run: Run;
  report: Report;
  against: string | undefined;
  onAgainst: (runId: string | undefined) => void;
  split: string | undefined;
  onSplit: (column: string | undefined) => void;
}

/** What the decision rests on, whole: the verdict to the word, its doubts, and what the figures say from other sides. */
export function FiguresPanel({ run, report, against, onAgainst, split, onSplit }: Props) {
  const { verdict, ranking } = report;
  const doubt = doubtOf(report);
  const round = earlierRound(report);
  const isRanked = ranking.rows.some((row) => measureOf(ranking, row));
  if (!isRanked && !hasEnded(run.state)) return <NoVerdictYet run={run} report={report} />;
  return (
    <div className="stack wide">
      <section className="card stack" aria-labelledby="exactly-title">
        <h2 id="exactly-title">The verdict, to the word</h2>
        <p>
          {unbroken(sentenceOf(report, Boolean(run.configuration.comparison)))}
          {verdict.scope && ` This is ${verdict.scope}.`}
        </p>
        {doubt && (
          <ul className="doubts">
            <li>{unbroken(doubt)}</li>
          </ul>
        )}
        <VerdictFacts run={run} report={report} />
      </section>
      <Overturning run={run} report={report} />
      <LooksTable report={report} />
      {isRanked && (
        <section className="stack" aria-labelledby="quality-title">
          <h2 id="quality-title">Quality against cost and length</h2>
          <div className="card">
            <Suspense fallback={<Skeleton lines={6} />}>
              <QualityChart ranking={ranking} candidates={report.candidates} />
            </Suspense>
          </div>
        </section>
      )}
      {hasEnded(run.state) && <SplitPanel run={run} round={round} column={split} onColumn={onSplit} />}
      {hasEnded(run.state) && <GatePanel run={run} report={report} />}
      <SpendTable spend={report.spend} />
      <AgainstPanel run={run} report={report} against={against} onAgainst={onAgainst} />
      <Glossary />
    </div>
  );
}
