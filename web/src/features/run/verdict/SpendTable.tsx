import type { Report } from "../../../api/types";
import { useFormats } from "../../../app/context";
import type { Column } from "../../../components/table/column";
import { DataTable } from "../../../components/table/DataTable";
import { type Formats, placesFor } from "../../../lib/format";
import { modelAt } from "../../../lib/modelAt";
import { beyondBrief, knownCost, priced } from "../../../lib/spend";
import { wordsForPhase } from "../../../lib/states";

/** Which model was called for what, how often, and what that cost. */
export function SpendTable({ spend }: { spend: Report["spend"] }) {
  const formats = useFormats();
  if (!spend.rows.length) return null;
  return (
    <section className="stack" aria-labelledby="spend-title">
      <h2 id="spend-title">What it took</h2>
      <DataTable
        label="What it took"
        unsorted="As the work went"
        rows={spend.rows}
        keyOf={(row) => modelAt(row) + row.kind}
        columns={columnsOf(spend, formats)}
        wordsOf={(row) => `${modelAt(row)} ${wordsForPhase(row.kind)}`}
      />
    </section>
  );
}

type Line = Report["spend"]["rows"][number];

function columnsOf(spend: Report["spend"], formats: Formats): [Column<Line>, ...Column<Line>[]] {
  const places = placesFor(spend.rows.map((row) => row.cost));
  const dollars = (cost: string) => formats.dollars(cost, places);
  const number = (id: "calls" | "input_tokens" | "output_tokens", label: string): Column<Line> => ({
    id,
    label,
    isBestHigh: true,
    value: (row) => row[id],
    cell: (row) => formats.integer(row[id]),
    total: formats.integer(spend[id]),
  });
  const failed = (count: number) => <span className={count ? "bad" : ""}>{formats.integer(count)}</span>;
  return [
    {
      id: "model",
      label: "Model",
      isText: true,
      value: modelAt,
      cell: modelAt,
      total: "Together",
    },
    {
      id: "for",
      label: "For",
      isText: true,
      value: ({ kind }) => wordsForPhase(kind),
      cell: ({ kind }) => wordsForPhase(kind),
    },
    number("calls", "Calls"),
    {
      id: "failed",
      label: "Failed",
      isBestHigh: true,
      value: (row) => row.failed,
      cell: (row) => failed(row.failed),
      total: failed(spend.rows.reduce((sum, row) => sum + row.failed, 0)),
    },
    number("input_tokens", "Tokens in"),
    number("output_tokens", "Tokens out"),
    {
      id: "cost",
      label: "Cost",
      isBestHigh: true,
      value: knownCost,
      cell: (row) => <Known of={row} figure={priced(row.cost, dollars)} />,
      total: <Known of={spend} figure={priced(spend.cost, dollars)} />,
    },
  ];
}

/** Where nothing is known, no figure stands for it. */
function Known({ of, figure }: { of: Pick<Line, "cost" | "unknown_calls">; figure: string }) {
  const formats = useFormats();
  return (
    <>
      {knownCost(of) === null ? "" : figure}
      {of.unknown_calls > 0 && <span className="dim small block">{beyondBrief(of, formats)}</span>}
    </>
  );
}
