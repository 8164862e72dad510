import type { Ranking, Report, Row } from "../../api/types";
import { useFormats } from "../../app/context";
import { colourOf, Mark } from "../../components/Mark";
import type { Column } from "../../components/table/column";
import { type Formats, placesFor } from "../../lib/format";
import { type Measure, measureOf } from "../../lib/interval";
import { range } from "../../lib/intervals";
import { madeBy } from "../../lib/modelAt";
import { perThousand, priced } from "../../lib/spend";
import { IntervalBar } from "./IntervalBar";

type Places = ReadonlyMap<string, number>;

/** What is known of the candidates of a run. A column of which nobody knows anything is left out. */
export function columnsOf(
  report: Report,
  ranking: Ranking,
  grey: boolean,
  before: Places | undefined,
  formats: Formats,
): [Column<Row>, ...Column<Row>[]] {
  const isByScore = ranking.basis === "scores";
  const share = (value: number) => (isByScore ? formats.decimal(value) : formats.percent(value));
  const of = ({ candidate }: Row) => report.candidates.find((one) => one.candidate === candidate);
  const costOf = (row: Row) => {
    const cost = of(row)?.cost_per_answer;
    return cost ? perThousand(cost) : null;
  };
  const decimals = placesFor(ranking.rows.flatMap((row) => costOf(row) ?? []));
  const scores: Column<Row> = {
    id: "score",
    label: "Score",
    isBestHigh: true,
    value: ({ score }) => score ?? null,
    cell: ({ score }) => (score === null || score === undefined ? "–" : formats.decimal(score)),
  };
  const delivered: Column<Row> = {
    id: "answered",
    label: "Answered",
    isBestHigh: true,
    value: (row) => of(row)?.delivered ?? null,
    cell: (row) => <Delivered of={of(row)} />,
  };
  const name: Column<Row> = {
    id: "name",
    label: "Candidate",
    isText: true,
    value: ({ candidate }) => candidate,
    cell: (row) => <Name report={report} row={row} before={before} />,
  };
  const quality: Column<Row>[] = [
    {
      id: "quality",
      label: isByScore ? "Score" : "Preferred",
      ...(isByScore ? {} : { term: "preferred" }),
      isBestHigh: true,
      value: (row) => measureOf(ranking, row)?.value ?? null,
      cell: (row) => <Quality row={row} measure={measureOf(ranking, row)} write={share} />,
    },
    {
      id: "drawn",
      label: "Drawn, from",
      isText: true,
      className: "interval-cell whole",
      head: (
        <span className="ends">
          {[0, 0.5, 1].map((end) => (
            <span key={end}>{isByScore ? formats.decimal(end, 1) : formats.percent(end)}</span>
          ))}
        </span>
      ),
      cell: (row) => {
        const measure = measureOf(ranking, row);
        return (
          measure && (
            <IntervalBar measure={measure} look={grey ? "grey" : colourOf(numberOf(row, report))} write={share} />
          )
        );
      },
    },
  ];
  const rest: Column<Row>[] = [
    {
      id: "cost",
      label: "Cost per 1,000",
      value: (row) => {
        const cost = costOf(row);
        return cost === null ? null : Number(cost);
      },
      cell: (row) => <Cost cost={costOf(row)} places={decimals} />,
    },
    {
      id: "words",
      label: "Words",
      value: (row) => of(row)?.mean_words ?? null,
      cell: (row) => {
        const words = of(row)?.mean_words;
        return words ? formats.integer(words) : "–";
      },
    },
  ];
  const hasScores = !isByScore && ranking.rows.some(({ score }) => score !== null && score !== undefined);
  const hasGaps = report.candidates.some((one) => one.delivered < one.answers);
  return [name, ...quality, ...(hasScores ? [scores] : []), ...(hasGaps ? [delivered] : []), ...rest];
}

function numberOf(row: Row, { candidates }: Report): number {
  return candidates.findIndex(({ candidate }) => candidate === row.candidate);
}

interface NameProps {
  report: Report;
  row: Row;
  before: Places | undefined;
}

function Name({ report, row, before }: NameProps) {
  const number = numberOf(row, report);
  const candidate = report.candidates[number];
  const model = candidate && madeBy(candidate);
  return (
    <div className="placed">
      <span className="num place">
        <span className="visually-hidden">Place </span>
        {row.place ?? "–"} <Moved row={row} before={before} />
      </span>
      <span>
        <Mark number={number} /> {row.candidate} {row.is_best && <span className="chip good">best</span>}
        {model && model !== row.candidate && <span className="dim small block">{model}</span>}
      </span>
    </div>
  );
}

interface QualityProps {
  row: Row;
  measure: Measure | undefined;
  write: (value: number) => string;
}

function Quality({ row: { panel_low, panel_high }, measure, write }: QualityProps) {
  return (
    <>
      <strong>{measure ? write(measure.value) : "–"}</strong>
      {measure && measure.low !== null && measure.high !== null && (
        <span className="dim small block">{range(measure.low, measure.high, write)}</span>
      )}
      {typeof panel_low === "number" && typeof panel_high === "number" && (
        <span className="dim small block">other judges: {range(panel_low, panel_high, write)}</span>
      )}
    </>
  );
}

function Delivered({ of }: { of: Report["candidates"][number] | undefined }) {
  const formats = useFormats();
  if (!of) return null;
  return (
    <span className={of.delivered < of.answers ? "warn" : ""}>
      {formats.integer(of.delivered)} of {formats.integer(of.answers)}
    </span>
  );
}

function Cost({ cost, places }: { cost: string | null; places: number }) {
  const formats = useFormats();
  if (cost === null) return <span className="dim">unknown</span>;
  return <>{priced(cost, (amount) => formats.dollars(amount, places))}</>;
}

function Moved({ row, before }: { row: Row; before: Places | undefined }) {
  const old = before?.get(row.candidate);
  if (!before || old === undefined || !row.place || old === row.place) return null;
  const up = row.place < old;
  return (
    <span className={up ? "good" : "bad"}>
      <span aria-hidden>{up ? "▲" : "▼"}</span>
      <span className="visually-hidden">
        {up ? "up" : "down"} from {old}
      </span>
    </span>
  );
}
