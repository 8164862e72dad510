import type { Report, Run } from "../../../api/types";
import { useFormats } from "../../../app/context";
import { Empty } from "../../../components/Feedback";
import { NumberHead } from "../../../components/NumberHead";
import { Passports } from "../../../components/Passports";
import { Scroll } from "../../../components/Scroll";
import { Term } from "../../../components/Term";
import { hasEnded } from "../../../lib/states";
import { isJudged } from "../../../lib/interval";
import { range } from "../../../lib/intervals";
import { NotJudgedYet } from "../NotJudgedYet";

interface Props {
  run: Run;
  report: Report;
}

/** How far the judges can be trusted: flips, faults, agreement, favouritism. */
export function JudgesPanel({ run, report }: Props) {
  if (!report.judges.length) return <Empty title="No judges yet" />;
  if (!hasEnded(run.state) && !isJudged(report.ranking)) return <NotJudgedYet run={run} />;
  const passports = report.judges.flatMap(({ judge, passport }) => (passport ? [{ judge, passport }] : []));
  return (
    <div className="stack wide">
      <section className="stack" aria-labelledby="health-title">
        <h2 id="health-title">Health of the judges</h2>
        <HealthTable report={report} />
        <p className="small dim">
          A judge flips if it prefers whatever stands first, or second, when it sees the same two answers in both
          orders. A lift is how much better a judge treats models of its own family than the other judges do.
        </p>
      </section>
      {passports.length > 0 && (
        <section className="stack" aria-labelledby="passports-title">
          <h2 id="passports-title">Their passports in this comparison</h2>
          <Passports label="Passports of the judges" rows={passports} />
        </section>
      )}
      <Agreement report={report} />
    </div>
  );
}

function HealthTable({ report }: { report: Report }) {
  const formats = useFormats();
  return (
    <Scroll labelledBy="health-title">
      <table className="table roomy data">
        <thead>
          <tr>
            <th scope="col">Judge</th>
            <NumberHead>Weight</NumberHead>
            <NumberHead>Same both ways</NumberHead>
            <NumberHead>
              <Term of="flip">Flips</Term>
            </NumberHead>
            <NumberHead>To the first</NumberHead>
            <NumberHead>Inconsistent</NumberHead>
            <NumberHead>Invalid</NumberHead>
            <NumberHead>Missing</NumberHead>
            <th scope="col">
              <Term of="lift">Lift of its own family</Term>
            </th>
          </tr>
        </thead>
        <tbody>
          {report.judges.map((judge) => {
            const { health } = judge;
            return (
              <tr key={judge.judge}>
                <th scope="row">
                  {judge.judge} {health?.flagged && <span className="chip bad">often invalid</span>}
                  {judge.host && !judge.judge.includes(judge.host) && (
                    <span className="dim small block">at {judge.host}</span>
                  )}
                  {judge.family && <span className="dim small block">family {judge.family}</span>}
                </th>
                <td className="n" data-label="Weight">
                  {formats.decimal(judge.comparison_weight ?? judge.scoring_weight ?? 1, 1)}
                </td>
                {health ? (
                  <>
                    <td className="n" data-label="Same both ways">
                      {formats.integer(health.agreed)}
                    </td>
                    <td className={`n ${health.flips ? "warn" : ""}`} data-label="Flips">
                      {share(health.flips, health.flips + health.agreed, formats)}
                    </td>
                    <td className="n" data-label="To the first">
                      {health.flips ? `${health.flips_to_first} of ${health.flips}` : "–"}
                    </td>
                    <td className="n" data-label="Inconsistent">
                      {formats.integer(health.inconsistent)}
                    </td>
                    <td className={`n ${health.invalid + health.scores_invalid ? "bad" : ""}`} data-label="Invalid">
                      {formats.integer(health.invalid + health.scores_invalid)}
                    </td>
                    <td className="n" data-label="Missing">
                      {formats.integer(health.missing + health.scores_missing)}
                    </td>
                    <td data-label="Lift of its own family">{lift(health.own_family_lift, formats)}</td>
                  </>
                ) : (
                  <td colSpan={7} className="dim">
                    Compared nothing.
                  </td>
                )}
              </tr>
            );
          })}
        </tbody>
      </table>
    </Scroll>
  );
}

function Agreement({ report }: { report: Report }) {
  const formats = useFormats();
  const { verdicts, pairs, scores } = report.agreement;
  const alpha = (value: number | null, reason: string | null | undefined) =>
    value === null ? (reason ?? "not defined") : formats.decimal(value);
  return (
    <section className="stack" aria-labelledby="agreement-title">
      <h2 id="agreement-title">Do they agree?</h2>
      <div className="card stack">
        <dl className="facts">
          <dt>
            On who is better (<Term of="alpha">α</Term>)
          </dt>
          <dd>{alpha(verdicts.value, verdicts.reason)}</dd>
          {scores.map((score) => (
            <Fact
              key={score.criterion}
              name={`On ${score.criterion} (α)`}
              value={alpha(score.alpha.value, score.alpha.reason)}
            />
          ))}
          {pairs.map((pair) => (
            <Fact
              key={`${pair.first} ${pair.second}`}
              name={`${pair.first} and ${pair.second}`}
              value={`${formats.percent(pair.of ? pair.same / pair.of : 0)} the same: ${formats.integer(pair.same)} of ${formats.counted(pair.of, "pair")}`}
            />
          ))}
        </dl>
        <p className="small dim">
          Krippendorff’s α is 1 for perfect agreement, 0 for what chance would bring, and negative for less than that.
        </p>
      </div>
    </section>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}

type Formats = ReturnType<typeof useFormats>;

function share(part: number, of: number, formats: Formats): string {
  return of ? `${formats.integer(part)} (${formats.percent(part / of)})` : "–";
}

function lift(
  { lift: value, low, high, reason }: NonNullable<Report["judges"][number]["health"]>["own_family_lift"],
  formats: Formats,
): string {
  if (value === null) return reason ?? "–";
  const interval = low !== null && high !== null ? ` (${range(low, high, formats.decimal)})` : "";
  return formats.decimal(value) + interval;
}
