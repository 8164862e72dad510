import type { Report } from "../../../api/types";
import { useFormats } from "../../../app/context";
import { Mark } from "../../../components/Mark";
import { NumberHead } from "../../../components/NumberHead";
import { Scroll } from "../../../components/Scroll";
import { numbersIn } from "../../../lib/candidates";
import { range } from "../../../lib/intervals";

type People = NonNullable<Report["people"]>;
type Maybe = number | null | undefined;

/** What people would say, from the judges on all documents and blind votes on a few. It stands beside the ranking. */
export function PeopleVerdict({ people, candidates }: { people: People; candidates: Report["candidates"] }) {
  const formats = useFormats();
  const percent = (value: Maybe) => (value == null ? "–" : formats.percent(value));
  const between = (low: Maybe, high: Maybe) =>
    low != null &&
    high != null && <span className="dim small block">{range(low, high, (end) => formats.percent(end))}</span>;
  const isKnown = people.rows.some((row) => row.share != null);
  return (
    <section className="card stack" aria-labelledby="people-title">
      <h2 id="people-title">What people would say</h2>
      <p>
        <strong>{people.sentence}</strong> {people.notes.join(" ")}
      </p>
      {isKnown && (
        <Scroll isPlain labelledBy="people-title">
          <table className="table data">
            <thead>
              <tr>
                <th scope="col">Candidate</th>
                <NumberHead>People</NumberHead>
                <NumberHead>Votes alone</NumberHead>
                <NumberHead>Judges</NumberHead>
              </tr>
            </thead>
            <tbody>
              {people.rows.map((row) => (
                <tr key={row.candidate}>
                  <th scope="row">
                    <Mark number={numbersIn(candidates)(row.candidate)} /> {row.candidate}{" "}
                    {row.is_best && <span className="chip good">best</span>}
                  </th>
                  <td className="n" data-label="People">
                    <strong>{percent(row.share)}</strong>
                    {between(row.low, row.high)}
                  </td>
                  <td className="n" data-label="Votes alone">
                    {percent(row.alone)}
                    {between(row.alone_low, row.alone_high)}
                  </td>
                  <td className="n" data-label="Judges">
                    {percent(row.judges)}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
      <p className="small dim">
        From {formats.integer(people.votes)} blind {people.votes === 1 ? "vote" : "votes"} of{" "}
        {people.voters === 1 ? "one person" : `${formats.integer(people.voters)} people`} on{" "}
        {formats.integer(people.voted)} of {formats.counted(people.documents, "document")}. The ranking of the judges
        leaves them out.
        {people.agreement?.value != null &&
          ` The voters agree with each other at α\u00a0=\u00a0${formats.decimal(people.agreement.value)}.`}
      </p>
      {people.stand_ins.some((one) => one.replaces != null) && (
        <ul className="small">
          {people.stand_ins.map((one) => (
            <li key={one.judge}>
              {one.replaces == null
                ? `${one.judge} cannot be tested as a stand-in for a person yet.`
                : `${one.judge} ${one.passes ? "may" : "may not"} stand in for a person: it could replace ${formats.integer(one.replaces)} of the ${formats.counted(one.voters, "voter")}.`}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
