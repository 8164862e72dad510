import { useQuery } from "@tanstack/react-query";
import type { Report } from "../../../api/types";
import { useApi, useFormats } from "../../../app/context";
import { Button } from "../../../components/Button";
import { CheckMark } from "../../../components/CheckMark";
import { Mark } from "../../../components/Mark";
import { numbersIn } from "../../../lib/candidates";
import { beginningsQuery } from "../queries";

/** Of a question in one line. */
const MOST_CHARACTERS = 120;

interface Props {
  report: Report;
  onOpen: (document: string, left: string, right: string) => void;
}

/** Where the other candidate fails, with the question and both answers: what the decision is about. */
export function WhereWorse({ report, onOpen }: Props) {
  const { first, beside } = report.decision;
  if (!first || !beside) return null;
  return <Cases report={report} first={first} beside={beside} onOpen={onOpen} />;
}

function Cases({ report, first, beside, onOpen }: Props & { first: string; beside: string }) {
  const api = useApi();
  const formats = useFormats();
  const isLive = report.state === "running";
  const { worse_on: shown = [], worse_total: total = 0 } = report.decision;
  const rows = useQuery({ ...beginningsQuery(api, report.run.id, shown, isLive), enabled: shown.length > 0 }).data
    ?.rows;
  if (!shown.length) return null;
  const numberOf = numbersIn(report.candidates);
  const names = report.checks?.checks.map(({ name }) => name) ?? [];
  return (
    <section className="card stack" aria-labelledby="worse-title">
      <div className="row between">
        <h2 id="worse-title">Where {beside} is worse</h2>
        <span className="small dim num">
          {formats.integer(shown.length)} of {formats.integer(total)}, the worst first
        </span>
      </div>
      <ol className="cases">
        {shown.map((document) => {
          const row = rows?.find((one) => one.document === document);
          if (!row) return null;
          return (
            <li key={document} className="stack tight">
              <div className="row between">
                <h3>{row.name}</h3>
                <Button small variant="quiet" onPress={() => onOpen(`d${document}`, first, beside)}>
                  Read both <span className="visually-hidden">answers to {row.name}</span>
                </Button>
              </div>
              <p className="small dim clamp one" dir="auto">
                {row.question.slice(0, MOST_CHARACTERS)}
              </p>
              <div className="columns">
                {[first, beside].map((name) => (
                  <div key={name} className="small">
                    <p className="row tight">
                      <Mark number={numberOf(name)} /> <strong>{name}</strong>
                      {row.checks[numberOf(name)]?.map(
                        (mark, at) => mark !== null && <CheckMark key={at} name={names[at] ?? ""} mark={mark} />,
                      )}
                    </p>
                    <p className="clamp" dir="auto">
                      {row.answers[numberOf(name)] ?? "No answer."}
                    </p>
                  </div>
                ))}
              </div>
            </li>
          );
        })}
      </ol>
    </section>
  );
}
