import type { Report } from "../../../api/types";
import { useFormats } from "../../../app/context";
import { NumberHead } from "../../../components/NumberHead";
import { Scroll } from "../../../components/Scroll";

/** Whom the looks of a run dropped on its way, and what that saved; nothing if they saved nothing. */
export function LooksTable({ report: { looks, progress } }: { report: Report }) {
  const formats = useFormats();
  if (!looks?.some((look) => look.saved)) return null;
  const saved = progress.saved ?? 0;
  return (
    <section className="stack" aria-labelledby="looks-title">
      <h2 id="looks-title">Looks on the way</h2>
      <Scroll labelledBy="looks-title">
        <table className="table roomy">
          <thead>
            <tr>
              <th scope="col">Look</th>
              <NumberHead>Documents</NumberHead>
              <th scope="col">Dropped</th>
              <NumberHead>Calls saved</NumberHead>
            </tr>
          </thead>
          <tbody>
            {looks.map((look) => (
              <tr key={look.number}>
                <td>{formats.integer(look.number)}</td>
                <td className="n">{formats.integer(look.documents)}</td>
                <td>
                  {look.decided
                    ? `${look.leader} is best: nothing more was asked`
                    : look.dropped.join(", ") || <span className="dim">nobody</span>}
                </td>
                <td className="n">{formats.integer(look.saved)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <p className="small dim">
        The looks saved {formats.integer(saved)} of {formats.integer(progress.total + saved)} calls
        {Number(progress.saved_cost) ? `, about ${formats.dollars(progress.saved_cost ?? "0")}` : ""}. A look is a count
        on the way: candidates that it dropped were not asked again.
      </p>
    </section>
  );
}
