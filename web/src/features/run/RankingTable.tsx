import type { Ranking, Report } from "../../api/types";
import { useFormats } from "../../app/context";
import { DataTable } from "../../components/table/DataTable";
import { Term } from "../../components/Term";
import { measureOf } from "../../lib/interval";
import { madeBy } from "../../lib/modelAt";
import { columnsOf } from "./rankingColumns";

interface Props {
  report: Report;
  ranking: Ranking;
  grey: boolean;
  /** The places that candidates had before, to show who moved. */
  before?: ReadonlyMap<string, number>;
  /** Beside a decision: nobody chooses its columns. */
  isFixed?: boolean;
}

export function RankingTable({ report, ranking, grey, before, isFixed = false }: Props) {
  const formats = useFormats();
  const hasIntervals = ranking.rows.some((row) => measureOf(ranking, row)?.low !== null);
  return (
    <div className="stack tight">
      <DataTable
        label="Ranking"
        className="ranking"
        unsorted="Place"
        isFixed={isFixed}
        rows={ranking.rows}
        keyOf={({ candidate }) => candidate}
        columns={columnsOf(report, ranking, grey, before, formats)}
        wordsOf={({ candidate }) => {
          const found = report.candidates.find((one) => one.candidate === candidate);
          return `${candidate} ${(found && madeBy(found)) ?? ""}`;
        }}
      />
      <details className="small dim">
        <summary>Legend</summary>
        <p>
          {hasIntervals && (
            <>
              A <Term of="interval">range</Term>
            </>
          )}
          {hasIntervals &&
            ` like this holds the true value in ${formats.percent(0.95)} of runs over documents like these${ranking.look ? ", at all looks together" : ""}. `}
          {ranking.rows.some((row) => typeof row.first_low === "number") &&
            "Luck helps a candidate to come first, so the range of the first one begins lower to allow for that. "}
          {grey && "There are too few documents for a conclusion. "}
          {ranking.basis === "comparisons" && "The dashed line is one half: as often preferred as not."}
        </p>
      </details>
    </div>
  );
}
