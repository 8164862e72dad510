import type { Against } from "../../../api/types";
import { useFormats } from "../../../app/context";
import { NumberHead } from "../../../components/NumberHead";
import { Scroll } from "../../../components/Scroll";
import { Sentence } from "../../../components/Sentence";
import { inTime, perThousand, priced } from "../../../lib/spend";

/** Costs and times differ from day to day. */
const NOTABLE = 1.2;

type Standing = NonNullable<Against["rows"][number]["here"]>;

interface Props {
  against: Against;
  numberOf: (candidate: string) => number;
}

/** What each candidate of both runs passes, costs and takes: there, and here. */
export function StandingsPart({ against, numberOf }: Props) {
  const formats = useFormats();
  const both = against.rows.flatMap(({ candidate, here, there }) =>
    here && there ? [{ candidate, here, there }] : [],
  );
  const columns: [string, (one: Standing) => number | null, (one: Standing) => string, boolean][] = [
    ["Checks", ({ passes }) => passes?.share ?? null, ({ passes }) => formats.percent(passes?.share ?? 0), true],
    ["Preferred", (one) => one.win_share, (one) => formats.percent(one.win_share ?? 0), true],
    ["Score", (one) => one.score, (one) => formats.decimal(one.score ?? 0), true],
    [
      `Cost per ${formats.integer(1000)}`,
      ({ cost_per_answer: cost }) => (cost === null ? null : Number(cost)),
      ({ cost_per_answer: cost }) => priced(perThousand(cost ?? "0"), formats.briefDollars),
      false,
    ],
    ["Time", (one) => one.median_ms ?? null, (one) => inTime(one.median_ms ?? null, formats), false],
  ];
  const known = columns.filter(([, value]) => both.some(({ here, there }) => value(here) ?? value(there)));
  if (!both.length || !known.length) return null;
  return (
    <section className="stack" aria-labelledby="standings-title">
      <h2 id="standings-title">There, and here</h2>
      <Scroll labelledBy="standings-title">
        <table className="table data standings">
          <thead>
            <tr>
              <th scope="col">Candidate</th>
              {known.map(([label]) => (
                <NumberHead key={label}>{label}</NumberHead>
              ))}
            </tr>
          </thead>
          <tbody>
            {both.map(({ candidate, here, there }) => (
              <tr key={candidate}>
                <th scope="row">
                  <Sentence parts={[{ candidate }]} numberOf={numberOf} />
                </th>
                {known.map(([label, value, write, isBestHigh]) => {
                  const [before, now] = [value(there), value(here)];
                  const isWorse =
                    before !== null && now !== null && (isBestHigh ? now < before : now > NOTABLE * before);
                  return (
                    <td key={label} className="n nowrap" data-label={label}>
                      {before === null ? "–" : write(there)} →{" "}
                      <strong className={isWorse ? "bad" : ""}>
                        {now === null ? "–" : write(here)}
                        {isWorse && (isBestHigh ? " ▼" : " ▲")}
                      </strong>
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}
