import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import type { Report, Run } from "../../api/types";
import { useApi, useFormats } from "../../app/context";
import { Button } from "../../components/Button";
import { Empty, Spinner } from "../../components/Feedback";
import { QueryView } from "../../components/QueryView";
import { rankingQuery } from "./queries";
import { RankingTable } from "./RankingTable";

const MOST = 3;
const STEP = 0.25;

/** The ranking with other weights of the judges, or without some of them. It costs no calls. */
export function WhatIfPanel({ run, report }: { run: Run; report: Report }) {
  const formats = useFormats();
  const before = new Map(report.judges.map((judge) => [judge.judge, judge.comparison_weight ?? judge.scoring_weight ?? 1]));
  const [weights, setWeights] = useState<ReadonlyMap<string, number>>(before);
  const isChanged = [...weights].some(([judge, weight]) => weight !== before.get(judge));
  const someoneJudges = [...weights.values()].some((weight) => weight > 0);
  const wanted = useDeferredValue(isChanged && someoneJudges ? Object.fromEntries(weights) : undefined);
  const query = useQuery(rankingQuery(useApi(), run.id, wanted));
  const places = new Map(report.ranking.rows.flatMap((row) => (row.place ? [[row.candidate, row.place] as const] : [])));
  const change = (judge: string, weight: number) => setWeights(new Map(weights).set(judge, weight));

  if (!report.judges.length) return <Empty title="No judges yet" />;
  return (
    <div className="stack wide">
      <section className="card stack" aria-labelledby="weights-title">
        <div className="row between">
          <h2 id="weights-title">What if the judges counted differently?</h2>
          <Button small onPress={() => setWeights(before)} isDisabled={!isChanged}>
            As it was
          </Button>
        </div>
        <p className="dim">Move a weight, or leave a judge out by moving it to 0. A verdict that holds only with one of them is worth little.</p>
        <div className="stack tight">
          {[...weights].map(([judge, weight]) => (
            <div key={judge} className="judge-weights">
              <label htmlFor={`weight-${judge}`}>{judge}</label>
              <input
                id={`weight-${judge}`}
                type="range"
                min={0}
                max={Math.max(MOST, before.get(judge) ?? 0)}
                step={STEP}
                value={weight}
                aria-valuetext={weight === 0 ? "left out" : formats.decimal(weight)}
                onChange={(event) => change(judge, event.target.valueAsNumber)}
              />
              <output className="num">{weight === 0 ? "out" : formats.decimal(weight)}</output>
            </div>
          ))}
        </div>
        {!someoneJudges && <p className="bad">Leave at least one judge.</p>}
      </section>
      <QueryView query={query}>
        {(answer) => (
          <div className="stack" aria-busy={query.isFetching}>
            <div className="row between">
              <p className="serif sentence" role="status">
                {answer.verdict.sentence}
              </p>
              {query.isFetching && <Spinner label="Counting" />}
            </div>
            <RankingTable report={report} ranking={answer.ranking} grey={answer.verdict.grey} before={places} />
          </div>
        )}
      </QueryView>
    </div>
  );
}
