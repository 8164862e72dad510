import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useEffect, useState } from "react";
import type { Report, Run } from "../../../api/types";
import { useApi, useFormats } from "../../../app/context";
import { Button } from "../../../components/Button";
import { Empty, Spinner } from "../../../components/Feedback";
import { QueryView } from "../../../components/QueryView";
import { hasEnded } from "../../../lib/states";
import { useSettled } from "../../../lib/useSettled";
import { isJudged } from "../../../lib/interval";
import { earlierRound, rankingQuery } from "../queries";
import { RankingTable } from "../RankingTable";
import { NotJudgedYet } from "../NotJudgedYet";
import { textOfWeights, weightsIn } from "./weights";

const MOST = 3;
const STEP = 0.25;
const QUIET_MS = 300;

interface Props {
  run: Run;
  report: Report;
  /** Search parameters of the address. */
  weights: string | undefined;
  onWeigh: (weights: string | undefined) => void;
}

/** The ranking with other weights of the judges, or without some of them. It costs no calls. */
export function WhatIfPanel({ run, report, weights: said, onWeigh }: Props) {
  const formats = useFormats();
  const before = new Map(
    report.judges.map((judge) => [judge.judge, judge.comparison_weight ?? judge.scoring_weight ?? 1]),
  );
  const [text, setText] = useSaid(said, onWeigh);
  const weights = weightsIn(text, before);
  const isChanged = [...weights].some(([judge, weight]) => weight !== before.get(judge));
  const someoneJudges = [...weights.values()].some((weight) => weight > 0);
  const asked = useDeferredValue(isChanged && someoneJudges ? text : undefined);
  const query = useQuery(
    rankingQuery(
      useApi(),
      run.id,
      asked ? Object.fromEntries(weightsIn(asked, before)) : undefined,
      earlierRound(report),
    ),
  );
  const places = new Map(
    report.ranking.rows.flatMap((row) => (row.place ? [[row.candidate, row.place] as const] : [])),
  );
  const change = (judge: string, weight: number) => setText(textOfWeights(new Map(weights).set(judge, weight), before));

  if (!report.judges.length) return <Empty title="No judges yet" />;
  if (!hasEnded(run.state) && !isJudged(report.ranking)) return <NotJudgedYet run={run} />;
  return (
    <div className="stack wide">
      <section className="card stack" aria-labelledby="weights-title">
        <div className="row between">
          <h2 id="weights-title">What if the judges counted differently?</h2>
          <Button small onPress={() => setText(undefined)} isDisabled={!isChanged}>
            As it was
          </Button>
        </div>
        <p className="dim">
          Move a weight, or leave a judge out by moving it to 0. A verdict that holds only with one of them is worth
          little.
        </p>
        <div className="stack tight">
          {[...weights].map(([judge, weight]) => (
            <div key={judge} className="judge-weights">
              <label htmlFor={`weight-${judge}`}>{judge}</label>
              <input
                id={`weight-${judge}`}
                type="range"
                min={0}
                max={Math.max(MOST, before.get(judge) ?? 0, weight)}
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
            <ul className="doubts">
              {answer.verdict.notes.map((note) => (
                <li key={note}>{note}</li>
              ))}
            </ul>
            <RankingTable report={report} ranking={answer.ranking} grey={answer.verdict.grey} before={places} />
          </div>
        )}
      </QueryView>
    </div>
  );
}

/** A search parameter that changes many times a second while the user drags: the address is updated when it settles. */
function useSaid(
  said: string | undefined,
  say: (text: string | undefined) => void,
): [string | undefined, (text: string | undefined) => void] {
  const [own, setOwn] = useState<{ text: string | undefined; over: string | undefined }>();
  // A newer address overrides what the user dragged here.
  const text = own && (said === own.over || said === own.text) ? own.text : said;
  const settled = useSettled(text, QUIET_MS);
  useEffect(() => {
    if (settled === text && text !== said) say(text);
  }, [settled, text, said, say]);
  return [text, (next) => setOwn({ text: next, over: said })];
}
