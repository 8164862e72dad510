import type { Report } from "../../../api/types";
import { useFormats } from "../../../app/context";
import { NumberHead } from "../../../components/NumberHead";
import { Scroll } from "../../../components/Scroll";
import { placesFor } from "../../../lib/format";
import { beyondBrief } from "../../../lib/spend";
import { wordsForPhase } from "../../../lib/states";

type Cost = Pick<Report["spend"], "cost" | "unknown_calls">;

/** Which model was called for what, how often, and what that cost. */
export function SpendTable({ spend }: { spend: Report["spend"] }) {
  const formats = useFormats();
  if (!spend.rows.length) return null;
  const places = placesFor(spend.rows.map((row) => row.cost));
  const failed = spend.rows.reduce((sum, row) => sum + row.failed, 0);
  // Where nothing is known, no figure stands for it.
  const known = ({ cost, unknown_calls: calls }: Cost, figure: string) => (calls && !Number(cost) ? "" : figure);
  const unknown = (cost: Cost) =>
    cost.unknown_calls > 0 && <span className="dim small block">{beyondBrief(cost, formats)}</span>;
  return (
    <section className="stack" aria-labelledby="spend-title">
      <h2 id="spend-title">What it took</h2>
      <Scroll labelledBy="spend-title">
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Model</th>
              <th scope="col">For</th>
              <NumberHead>Calls</NumberHead>
              <NumberHead>Failed</NumberHead>
              <NumberHead>Tokens in</NumberHead>
              <NumberHead>Tokens out</NumberHead>
              <NumberHead>Cost</NumberHead>
            </tr>
          </thead>
          <tbody>
            {spend.rows.map((row) => (
              <tr key={row.model + row.kind}>
                <th scope="row">{row.model}</th>
                <td>{wordsForPhase(row.kind)}</td>
                <td className="n">{formats.integer(row.calls)}</td>
                <td className={`n ${row.failed ? "bad" : ""}`}>{formats.integer(row.failed)}</td>
                <td className="n">{formats.integer(row.input_tokens)}</td>
                <td className="n">{formats.integer(row.output_tokens)}</td>
                <td className="n">
                  {known(row, Number(row.cost) ? formats.dollars(row.cost, places) : "0")}
                  {unknown(row)}
                </td>
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row" colSpan={2}>
                Together
              </th>
              <td className="n">{formats.integer(spend.calls)}</td>
              <td className={`n ${failed ? "bad" : ""}`}>{formats.integer(failed)}</td>
              <td className="n">{formats.integer(spend.input_tokens)}</td>
              <td className="n">{formats.integer(spend.output_tokens)}</td>
              <td className="n">
                {known(spend, formats.dollars(spend.cost, places))}
                {unknown(spend)}
              </td>
            </tr>
          </tfoot>
        </table>
      </Scroll>
    </section>
  );
}
