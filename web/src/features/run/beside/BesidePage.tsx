import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { ArrowLeftRight } from "lucide-react";
import { ApiError } from "carrel-sdk";
import type { Against, Report, Run } from "../../../api/types";
import { useApi, useFormats } from "../../../app/context";
import { Empty, Note, Skeleton } from "../../../components/Feedback";
import { Page } from "../../../components/Page";
import { QueryView } from "../../../components/QueryView";
import { RunState } from "../../../components/RunState";
import { Sentence } from "../../../components/Sentence";
import { labelsOf } from "../../../lib/candidates";
import { hasEnded } from "../../../lib/states";
import { reportQuery, runQuery } from "../queries";
import { ChangesPart } from "./ChangesPart";
import { DocumentsPart } from "./DocumentsPart";
import { StandingsPart } from "./StandingsPart";
import { doubtOf, toldOf } from "./words";

const route = getRouteApi("/runs/compare/$here/$there");

/** Two comparisons side by side: what changed, how much each candidate differs, and on which documents. */
export function BesidePage() {
  const { here, there } = route.useParams();
  return (
    <Page
      title="Two comparisons side by side"
      back={{ to: "/runs", label: "Comparisons" }}
      actions={
        here !== there && (
          <Link to="/runs/compare/$here/$there" params={{ here: there, there: here }} className="btn">
            <ArrowLeftRight size={16} aria-hidden /> Swap the two
          </Link>
        )
      }
    >
      {here === there ? (
        <Nothing title="This is one comparison, twice">Tick two different ones in the list, and compare these.</Nothing>
      ) : (
        <TwoRuns key={`${here} ${there}`} here={here} there={there} />
      )}
    </Page>
  );
}

/** The page without its address. */
export function TwoRuns({ here, there }: { here: string; there: string }) {
  const api = useApi();
  const [one, other] = [useQuery(runQuery(api, here)), useQuery(runQuery(api, there))];
  const isLive = [one, other].some(({ data }) => data?.state === "running");
  const report = useQuery({ ...reportQuery(api, here, there, isLive), enabled: Boolean(one.data && other.data) });
  if ([one, other].some(({ error }) => error instanceof ApiError && error.status === 404))
    return (
      <Nothing title="One of the two does not exist">
        It was deleted, or the address is incomplete. Choose two others.
      </Nothing>
    );
  return (
    <QueryView query={one}>
      {(mine) => (
        <QueryView query={other}>
          {(yours) => (
            <div className="stack wide">
              <dl className="card columns">
                <WhichRun where="Here" run={mine} />
                <WhichRun where="There" run={yours} />
              </dl>
              {[mine, yours]
                .filter((run) => !hasEnded(run.state))
                .map((run) => (
                  <Note key={run.id} tone="warn">
                    <p>{run.name} is not finished: what follows is what it has found so far.</p>
                  </Note>
                ))}
              <QueryView query={report} lines={8}>
                {(data) =>
                  data.against ? <Compared report={data} against={data.against} runs={[mine, yours]} /> : <Skeleton />
                }
              </QueryView>
            </div>
          )}
        </QueryView>
      )}
    </QueryView>
  );
}

function WhichRun({ where, run }: { where: string; run: Run }) {
  const formats = useFormats();
  return (
    <div>
      <dt className="small dim">
        {where} · {formats.dateTime(run.created_at)}
      </dt>
      <dd className="row">
        <Link to="/runs/$runId" params={{ runId: run.id }} className="title">
          {run.name}
        </Link>
        <RunState state={run.state} />
      </dd>
      {run.verdict && <dd className="small dim">{run.verdict}</dd>}
    </div>
  );
}

type Numbers = (candidate: string) => number;

/** A label that a run does not name was made from its model, and stands where it stands in the other run. */
function placeIn(labels: readonly (string | undefined)[]): (candidate: string, otherwise: number) => number {
  return (candidate, otherwise) => (labels.includes(candidate) ? labels.indexOf(candidate) : otherwise);
}

/** Marks are those of the first run; candidates that are only in the other one have the marks after them. */
function numbers(...runs: readonly Run[]): Numbers {
  const all = [...new Set(runs.flatMap(({ configuration }) => labelsOf(configuration)))];
  return (candidate) => Math.max(0, all.indexOf(candidate));
}

interface ComparedProps {
  report: Report;
  against: Against;
  runs: readonly [Run, Run];
}

function Compared({ report, against, runs }: ComparedProps) {
  const numberOf = numbers(...runs);
  const [here, there] = runs.map(({ configuration }) => labelsOf(configuration));
  return (
    <>
      <ChangesPart report={report} against={against} numberOf={numberOf} />
      <StandingsPart against={against} numberOf={numberOf} />
      <DifferencesPart against={against} numberOf={numberOf} />
      <DocumentsPart
        against={against}
        here={report.run.id}
        there={against.run.id}
        numberOf={numberOf}
        places={{ here: placeIn(here ?? []), there: placeIn(there ?? []) }}
      />
    </>
  );
}

function DifferencesPart({ against, numberOf }: { against: Against; numberOf: Numbers }) {
  const formats = useFormats();
  const both = against.rows.filter((row) => row.here && row.there);
  const why = whyNothing(against, both.length);
  const doubt = doubtOf(against);
  return (
    <section className="stack" aria-labelledby="differences-title">
      <h2 id="differences-title">What the shared documents tell</h2>
      {why ? (
        <p>{why}</p>
      ) : (
        <>
          {doubt && (
            <Note tone="warn">
              <p>{doubt}</p>
            </Note>
          )}
          <ul className="card stack">
            {both.map((row) => {
              const told = toldOf(row, against, formats);
              return (
                <li key={row.candidate}>
                  <strong>
                    <Sentence parts={told?.sentence ?? []} numberOf={numberOf} />
                  </strong>
                  {told?.figures && <span className="small dim num block">{told.figures}</span>}
                </li>
              );
            })}
          </ul>
          <p className="small dim">
            Here minus there, document by document. In brackets is its 95 % interval, for documents like these.
            {against.no_win_share && ` ${against.no_win_share}`}
          </p>
        </>
      )}
    </section>
  );
}

function whyNothing(against: Against, candidates: number): string | undefined {
  if (!against.shared_documents)
    return "The two have no document in common, so there is nothing to pair. Documents are the same if their texts are.";
  if (!candidates) return "No candidate has the same label in both, so there is nothing to pair.";
  if (against.scale) return undefined;
  return ["No answer to a shared document has a score in both.", against.no_win_share].filter(Boolean).join(" ");
}

function Nothing({ title, children }: { title: string; children: string }) {
  return (
    <Empty
      title={title}
      action={
        <Link to="/runs" className="btn">
          Show all runs
        </Link>
      }
    >
      {children}
    </Empty>
  );
}
