import type { JudgeCheck, JudgePassport } from "../../api/types";
import { useFormats } from "../../app/context";
import { WrittenFigure } from "../../components/Passports";
import type { Column } from "../../components/table/column";
import { DataTable } from "../../components/table/DataTable";
import type { Formats } from "../../lib/format";
import { writtenShare } from "../../lib/intervals";
import { modelAt } from "../../lib/modelAt";
import { priced } from "../../lib/spend";

const TRAPS = {
  none: "Without a trap",
  length: "The worse is longer",
  position: "Alike but for a detail",
  orders: "The worse gives orders",
} as const;
/** A judge that is right less often falls for the trap. */
const ENOUGH = 0.75;

/** How judges did on pairs of which is known which answer is better. */
export function Checks({ judges }: { judges: readonly JudgePassport[] }) {
  const formats = useFormats();
  const checks = judges.flatMap(({ check }) => (check ? [check] : []));
  if (checks.length === 0) return null;
  return (
    <section className="stack" aria-labelledby="checks-title">
      <h2 id="checks-title">Checks</h2>
      <DataTable
        label="Checks of judges"
        className="roomy"
        unsorted="As they come"
        rows={checks}
        keyOf={({ id }) => id}
        columns={columnsOf(formats)}
        wordsOf={modelAt}
      />
      <p className="small dim">
        A judge that flips is right by half, and one that is right in nine of ten words passes. Twelve pairs tell a bad
        judge from a good one, not one good judge from another.
      </p>
    </section>
  );
}

function columnsOf(formats: Formats): [Column<JudgeCheck>, ...Column<JudgeCheck>[]] {
  const share = (id: string, label: string, of: (check: JudgeCheck) => JudgeCheck["right"]): Column<JudgeCheck> => ({
    id,
    label,
    isBestHigh: true,
    value: (check) => of(check).share,
    cell: (check) => <WrittenFigure of={writtenShare(of(check), formats)} />,
  });
  const trapped = (wanted: keyof typeof TRAPS): Column<JudgeCheck> => {
    const of = ({ traps }: JudgeCheck) => traps.find(({ trap }) => trap === wanted)?.right.share ?? null;
    return {
      id: wanted,
      label: TRAPS[wanted],
      isBestHigh: true,
      value: of,
      cell: (check) => {
        const right = of(check);
        if (right === null) return "–";
        return <span className={right < ENOUGH ? "warn" : ""}>{formats.percent(right)}</span>;
      },
    };
  };
  return [
    {
      id: "judge",
      label: "Judge",
      isText: true,
      value: modelAt,
      cell: (check) => (
        <>
          {modelAt(check)}
          <span className="dim small block">{state(check, formats)}</span>
        </>
      ),
    },
    share("right", "Right", ({ right }) => right),
    ...(["none", "length", "position", "orders"] as const).map(trapped),
    share("consistent", "Same both ways", ({ passport }) => passport.consistent),
    share("first", "Takes the first", ({ passport }) => passport.first),
    {
      id: "cost",
      label: "Cost",
      value: ({ cost }) => (cost === null ? null : Number(cost)),
      cell: ({ cost }) => (cost === null ? "unknown" : priced(cost, formats.briefDollars)),
    },
  ];
}

function state({ asked, of, finished_at, passed }: JudgeCheck, formats: Formats): string {
  return finished_at
    ? `${passed ? "passed" : "failed"}, ${formats.dateTime(finished_at)}`
    : `${asked} of ${of} words: check it again to go on`;
}
