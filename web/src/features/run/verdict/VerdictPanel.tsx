import { lazy, Suspense } from "react";
import type { Report, Run } from "../../../api/types";
import { useFormats } from "../../../app/context";
import { Note, Skeleton } from "../../../components/Feedback";
import { Glossary } from "../../../components/Glossary";
import { part } from "../../../lib/part";
import { hasEnded } from "../../../lib/states";
import { unbroken } from "../../../lib/unbroken";
import { AgainstPanel } from "./AgainstPanel";
import { measureOf } from "../../../lib/interval";
import { earlierRound } from "../queries";
import { RankingTable } from "../RankingTable";
import { decisionOf } from "./decision";
import { DecisionCard } from "./DecisionCard";
import { GatePanel } from "./GatePanel";
import { LooksTable } from "./LooksTable";
import { doubtOf, outcomeOf, sentenceOf } from "./outcome";
import { Overturning } from "./Overturning";
import { PeopleVerdict } from "./PeopleVerdict";
import { SpendTable } from "./SpendTable";
import { SplitPanel } from "./SplitPanel";
import { NextSteps, NoVerdictYet, Troubles, VerdictFacts } from "./VerdictFacts";

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

export function VerdictPanel({ run, report, against, onAgainst, split, onSplit }: Props) {
  const { verdict, ranking } = report;
  const outcome = outcomeOf(report);
  const decision = decisionOf(report, useFormats());
  const doubt = doubtOf(report, decision?.headline);
  const round = earlierRound(report);
  const isRanked = ranking.rows.some((row) => measureOf(ranking, row));
  if (!isRanked && !hasEnded(run.state))
    return (
      <div className="stack wide">
        <NoVerdictYet run={run} report={report} />
        <Troubles run={run} />
      </div>
    );
  return (
    <div className="stack wide">
      <section className={`verdict card ${outcome.tone === "good" ? "" : "open"}`} aria-label="Verdict">
        <div className="row tight">
          <span className={`chip ${outcome.tone}`}>{outcome.label}</span>
          {!report.finished && <span className="chip info">so far</span>}
          {report.rounds > 1 && (
            <span className="chip">
              round {report.round} of {report.rounds}
            </span>
          )}
        </div>
        {decision && <DecisionCard decision={decision} report={report} />}
        <p className={isRanked ? "" : "sentence"}>
          {unbroken(sentenceOf(report, Boolean(run.configuration.comparison)))}
        </p>
        {verdict.scope && <p className="dim">This is {verdict.scope}.</p>}
        {doubt && (
          <ul className="doubts">
            <li>{unbroken(doubt)}</li>
          </ul>
        )}
        <VerdictFacts run={run} report={report} />
        {round === undefined && <NextSteps run={run} report={report} />}
      </section>
      <Troubles run={run} />
      <section className="stack" aria-labelledby="ranking-title">
        <h2 id="ranking-title">Ranking</h2>
        {isRanked ? (
          <RankingTable report={report} ranking={ranking} grey={verdict.grey} />
        ) : (
          <Note>There is nothing to rank.</Note>
        )}
      </section>
      <Overturning run={run} report={report} />
      <LooksTable report={report} />
      {report.people && <PeopleVerdict people={report.people} candidates={report.candidates} />}
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
