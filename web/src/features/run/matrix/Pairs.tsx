import type { Report } from "../../../api/types";
import { useFormats } from "../../../app/context";
import { Breakable } from "../../../components/Breakable";
import { Mark } from "../../../components/Mark";
import { NumberHead } from "../../../components/NumberHead";
import { Scroll } from "../../../components/Scroll";
import { around } from "./heat";

/** How often each candidate won against each other. */
export function Pairs({ report }: { report: Report }) {
  const formats = useFormats();
  const order = report.ranking.rows
    .map((row) => row.candidate)
    .filter((name) => report.pairs.some((pair) => pair.a === name || pair.b === name));
  const numberOf = (name: string) => report.candidates.findIndex(({ candidate }) => candidate === name);
  const shares = new Map<string, number>();
  for (const pair of report.pairs) {
    shares.set(`${pair.a}\n${pair.b}`, pair.share);
    shares.set(`${pair.b}\n${pair.a}`, 1 - pair.share);
  }
  return (
    <>
      <Scroll labelledBy="pairs-title">
        <table className="table heat">
          <thead>
            <tr>
              <th scope="col">… won against →</th>
              {order.map((name) => (
                <NumberHead key={name}>
                  <span className="marked">
                    <Mark number={numberOf(name)} /> <Breakable name={name} />
                  </span>
                </NumberHead>
              ))}
            </tr>
          </thead>
          <tbody>
            {order.map((row) => (
              <tr key={row}>
                <th scope="row">
                  <span className="marked">
                    <Mark number={numberOf(row)} /> <Breakable name={row} />
                  </span>
                </th>
                {order.map((column) => {
                  const share = shares.get(`${row}\n${column}`);
                  return share === undefined ? (
                    <td key={column} className="n dim">
                      {row === column ? "" : "–"}
                    </td>
                  ) : (
                    <td key={column} className="n" style={around(share)}>
                      {formats.percent(share)}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <p className="small dim">
        How often the candidate of the row won against that of the column; ties count half. Blue won more often than
        not, orange less.
      </p>
    </>
  );
}
