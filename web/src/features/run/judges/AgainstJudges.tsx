import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { data } from "carrel-sdk";
import { queryKeys } from "../../../api/queryKeys";
import type { AgainstJudges as Against, Report, Run } from "../../../api/types";
import { useApi, useFormats } from "../../../app/context";
import { Disclosure } from "../../../components/Disclosure";
import { NumberHead } from "../../../components/NumberHead";
import { QueryView } from "../../../components/QueryView";
import { Scroll } from "../../../components/Scroll";
import { Sentence } from "../../../components/Sentence";
import { Term } from "../../../components/Term";
import { numbersIn } from "../../../lib/candidates";
import { range } from "../../../lib/intervals";
import { named, type Part } from "../../../lib/sentence";
import { earlierRound } from "../queries";

interface Props {
  run: Run;
  report: Report;
  human: NonNullable<Report["human"]>;
}

/** After votes: how often a person came to the judges' outcome, who leads by either, and where the two differ. */
export function AgainstJudges({ run, report, human }: Props) {
  const api = useApi();
  const formats = useFormats();
  const round = earlierRound(report);
  const params = { path: { run_id: run.id }, query: round ? { round } : {} };
  const query = useQuery({
    queryKey: queryKeys.run.againstJudges(run.id, round),
    queryFn: ({ signal }) => data(api.client.GET("/api/runs/{run_id}/votes/against-judges", { params, signal })),
  });
  const isAlone = human.voters === 1;
  return (
    <section className="card stack" aria-labelledby="human-title">
      <h2 id="human-title">{isAlone ? "You" : "People"} against the judges</h2>
      <QueryView query={query}>
        {(found) => (
          <>
            <p>{agreed(found, isAlone, formats)}</p>
            {found.since && <p>{found.since.sentence}</p>}
            <p>
              <Sentence
                parts={leading(human.leaders, report.ranking.leaders)}
                numberOf={numbersIn(report.candidates)}
              />
            </p>
            <dl className="facts">
              <dt>{isAlone ? "Your votes" : `Votes of ${human.voters} people`}</dt>
              <dd>
                {formats.integer(human.votes)} on {formats.counted(human.documents, "document")},{" "}
                {formats.integer(human.ties)} without a difference
                {found.both_bad > 0 && `, ${formats.integer(found.both_bad)} of these because both were bad`}
              </dd>
              {human.judges.map((pair) => (
                <Same key={pair.first} judge={pair.first} same={pair.same} of={pair.of} />
              ))}
            </dl>
            {found.scores.length > 0 && <ByCriteria scores={found.scores} />}
            {found.disagreements.length > 0 && (
              <Disclosure
                title={isAlone ? "Where you and the judges differ" : "Where people and the judges differ"}
                summary={`${formats.integer(found.judged - found.same)} of ${formats.counted(found.judged, "vote")}`}
              >
                <ul className="disagreements stack">
                  {found.disagreements.map((one) => (
                    <Differs key={`${one.document} ${one.a} ${one.b} ${one.repeat} ${one.voter}`} one={one} run={run} />
                  ))}
                </ul>
                {found.disagreements.length < found.judged - found.same && (
                  <p className="small dim">The first {formats.integer(found.disagreements.length)} are shown.</p>
                )}
              </Disclosure>
            )}
          </>
        )}
      </QueryView>
    </section>
  );
}

/** What voters scored by criteria, and the judges on the same answers. */
function ByCriteria({ scores }: { scores: Against["scores"] }) {
  const formats = useFormats();
  const known = (value: number | null | undefined) => (value == null ? "–" : formats.decimal(value, 1));
  return (
    <Scroll isPlain labelledBy="human-title">
      <table className="table data">
        <thead>
          <tr>
            <th scope="col">Criterion</th>
            <NumberHead>Answers</NumberHead>
            <NumberHead>People</NumberHead>
            <NumberHead>Judges</NumberHead>
            <NumberHead>Apart</NumberHead>
            <NumberHead>
              Voters agree (<Term of="alpha">α</Term>)
            </NumberHead>
          </tr>
        </thead>
        <tbody>
          {scores.map((one) => (
            <tr key={one.criterion}>
              <th scope="row">{one.criterion}</th>
              <td className="n" data-label="Answers">
                {formats.integer(one.answers)}
              </td>
              <td className="n" data-label="People">
                <strong>{known(one.people)}</strong>
              </td>
              <td className="n" data-label="Judges">
                {known(one.judges)}
              </td>
              <td className="n" data-label="Apart">
                {known(one.apart)}
              </td>
              <td className="n" data-label="Voters agree (α)">
                {one.alpha == null ? "–" : formats.decimal(one.alpha)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function Same({ judge, same, of }: { judge: string; same: number; of: number }) {
  return (
    <>
      <dt>{judge}</dt>
      <dd>
        the same in {same} of {of}
      </dd>
    </>
  );
}

type Formats = ReturnType<typeof useFormats>;

function agreed({ judged, same, agreement }: Against, isAlone: boolean, formats: Formats): string {
  const who = isAlone ? "You" : "People";
  if (!judged || agreement.share === null) return "The judges have no opinion on the pairs that were voted on.";
  const interval =
    agreement.low !== null && agreement.high !== null
      ? `; by document ${formats.percent(agreement.share)} (95 % interval ${range(agreement.low, agreement.high, (end) => formats.percent(end))})`
      : "";
  return `${who} came to the judges’ outcome in ${formats.integer(same)} of ${formats.counted(judged, "vote")}${interval}.`;
}

function leading(people: readonly string[], judges: readonly string[]): Part[] {
  const byJudges = judges.length ? [" By the judges ", ...lead(judges), "."] : [];
  if (!people.length) return ["Too few votes to say who leads by them.", ...byJudges];
  if (people.join() === judges.join()) return ["By votes alone and by the judges ", ...lead(people), "."];
  if (people.some((one) => judges.includes(one)) || !judges.length)
    return ["By votes alone ", ...lead(people), ".", ...byJudges];
  return ["By votes alone ", ...lead(people), "; by the judges ", ...lead(judges), ". The verdict says so, too."];
}

function lead(names: readonly string[]): Part[] {
  return [...named(names), names.length === 1 ? " leads" : " lead"];
}

const FATES: Partial<Record<Against["disagreements"][number]["judges"][number]["fate"], string>> = {
  flip: "no opinion: it changed its mind when the order was swapped",
  inconsistent: "no opinion: better in one order, a tie in the other",
  invalid: "no valid answer",
  missing: "no answer",
};

function Differs({ one, run }: { one: Against["disagreements"][number]; run: Run }) {
  const said = (winner: string | null) => (winner === null ? "no difference" : `${winner} is better`);
  return (
    <li className="stack tight">
      <p>
        <strong>{one.document_name}</strong>, {one.a} and {one.b}
      </p>
      <p>
        {one.voter || "You"}: <strong>{said(one.winner)}</strong>. The judges: {said(one.judges_winner)}.
      </p>
      {one.judges.map(({ judge, fate, winner, reasons }) => (
        <div key={judge} className="small">
          <p>
            {judge}: {FATES[fate] ?? said(winner)}
          </p>
          {reasons.map(
            (reason, index) =>
              reason &&
              (index === 0 || reason !== reasons[0]) && (
                <blockquote key={index}>
                  {reasons[0] !== reasons[1] && `First ${index ? one.b : one.a}, then ${index ? one.a : one.b}: `}
                  {reason}
                </blockquote>
              ),
          )}
        </div>
      ))}
      <div className="row tight">
        <Link
          to="/runs/$runId"
          params={{ runId: run.id }}
          search={{ tab: "documents", document: `d${one.document}`, left: one.a, right: one.b }}
          className="btn small"
        >
          Read the answers
        </Link>
        {run.preset_id && (
          <Link
            to="/presets/$presetId"
            params={{ presetId: run.preset_id }}
            search={{ part: "comparison.instructions" }}
            className="btn small"
          >
            Adjust the question
          </Link>
        )}
      </div>
    </li>
  );
}
