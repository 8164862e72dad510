import type { ReactNode } from "react";
import type { Passport } from "../api/types";
import { useFormats } from "../app/context";
import { type Written, writtenDifference, writtenShare } from "../lib/intervals";
import { NumberHead } from "./NumberHead";
import { Scroll } from "./Scroll";
import { Term } from "./Term";

export interface PassportRow {
  judge: string;
  below?: ReactNode;
  passport: Passport;
}

/** How judges behave: a row for each, with intervals. */
export function Passports({ label, rows }: { label: string; rows: readonly PassportRow[] }) {
  const formats = useFormats();
  return (
    <Scroll label={label}>
      <table className="table roomy">
        <thead>
          <tr>
            <th scope="col">Judge</th>
            <NumberHead>Verdicts</NumberHead>
            <NumberHead>Same both ways</NumberHead>
            <NumberHead>
              <Term of="flip">Flips</Term>
            </NumberHead>
            <NumberHead>Takes the first</NumberHead>
            <NumberHead>Takes the longer</NumberHead>
            <NumberHead>Agrees with people</NumberHead>
            <NumberHead>
              <Term of="leniency">Leniency</Term>
            </NumberHead>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ judge, below, passport }) => (
            <tr key={judge}>
              <th scope="row">
                {judge}
                {below && <span className="dim small block">{below}</span>}
              </th>
              <td className="n">{formats.integer(passport.verdicts)}</td>
              <FigureCell figure={writtenShare(passport.consistent, formats)} />
              <FigureCell figure={writtenShare(passport.flips, formats)} />
              <FigureCell figure={writtenShare(passport.first, formats)} />
              <FigureCell figure={writtenShare(passport.longer, formats)} />
              <FigureCell figure={writtenShare(passport.with_people, formats)} />
              <FigureCell figure={writtenDifference(passport.leniency, formats)} />
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

/** A figure in a table, with its interval below it. */
export function FigureCell({ figure: { value, interval } }: { figure: Written }) {
  return (
    <td className="n">
      {value}
      {interval && <span className="dim small block">{interval}</span>}
    </td>
  );
}
