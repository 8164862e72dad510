import type { Report } from "../../../api/types";
import { useFormats } from "../../../app/context";
import { NumberHead } from "../../../components/NumberHead";
import { Scroll } from "../../../components/Scroll";
import { Sentence } from "../../../components/Sentence";
import { numbersIn } from "../../../lib/candidates";
import { named, type Part } from "../../../lib/sentence";

/** Whom the looks of a run dropped on its way, and what that saved; nothing if they saved nothing. */
export function LooksTable({ report: { candidates, looks, progress } }: { report: Report }) {
  const formats = useFormats();
  if (!looks?.some((look) => look.saved)) return null;
  const saved = progress.saved ?? 0;
  const numberOf = numbersIn(candidates);
  return (
    <section className="stack" aria-labelledby="looks-title">
      <h2 id="looks-title">Looks on the way</h2>
      <Scroll labelledBy="looks-title">
        <table className="table roomy data">
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
                <th scope="row">Look {formats.integer(look.number)}</th>
                <td className="n" data-label="Documents">
                  {formats.integer(look.documents)}
                </td>
                <td className="whole" data-label="Dropped">
                  {look.decided || look.dropped.length ? (
                    <Sentence parts={foundBy(look)} numberOf={numberOf} />
                  ) : (
                    <span className="dim">nobody</span>
                  )}
                </td>
                <td className="n" data-label="Calls saved">
                  {formats.integer(look.saved)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <p className="small dim">
        The looks saved {formats.integer(saved)} of {formats.counted(progress.total + saved, "call")}
        {Number(progress.saved_cost) ? `, about ${formats.dollars(progress.saved_cost ?? "0")}` : ""}. A look is a count
        on the way: candidates that it dropped were not asked again.
      </p>
    </section>
  );
}

function foundBy({ decided, leader, dropped }: NonNullable<Report["looks"]>[number]): Part[] {
  return decided && leader ? [{ candidate: leader }, " is best: nothing more was asked"] : named(dropped);
}
