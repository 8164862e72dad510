import type { Ranking, Report, Row } from "../../api/types";
import { useFormats } from "../../app/context";
import { colourOf, Mark } from "../../components/Mark";
import type { Column } from "../../components/table/column";
import { type Formats, placesFor } from "../../lib/format";
import { type Measure, measureOf } from "../../lib/interval";
import { range } from "../../lib/intervals";
import { madeBy } from "../../lib/modelAt";
import { inTime, perThousand, priced } from "../../lib/spend";
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
  const isByChecks = ranking.basis === "checks";
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
      label: isByScore ? "Score" : isByChecks ? "Passes" : "Preferred",
      ...(isByScore || isByChecks ? {} : { term: "preferred" }),
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
      label: `Cost per ${formats.integer(1000)}`,
      value: (row) => {
        const cost = costOf(row);
        return cost === null ? null : Number(cost);
      },
      cell: (row) => <Cost cost={costOf(row)} places={decimals} />,
    },
    {
      id: "time",
      label: "Time",
      value: ({ candidate }) => report.run.median_ms?.[candidate] ?? null,
      cell: ({ candidate }) => inTime(report.run.median_ms?.[candidate] ?? null, formats),
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
  const hasScores =
    !isByScore && !isByChecks && ranking.rows.some(({ score }) => score !== null && score !== undefined);
  const hasGaps = report.candidates.some((one) => one.delivered < one.answers);
  const known = rest.filter(({ value }) => ranking.rows.some((row) => (value?.(row) ?? null) !== null));
  const checks = checkColumns(report, formats);
  return [name, ...quality, ...(hasScores ? [scores] : []), ...checks, ...(hasGaps ? [delivered] : []), ...known];
}

const MOST_CHECKS = 4;

/** How many answers pass each check; of more than a few checks, all of them together. */
function checkColumns({ checks }: Report, formats: Formats): Column<Row>[] {
  if (!checks) return [];
  const rateOf = ({ candidate }: Row, at: number | undefined) => {
    const found = checks.rows.find((one) => one.candidate === candidate);
    return at === undefined ? (found?.required ?? found?.mean) : found?.rates[at];
  };
  const column = (id: string, label: string, at?: number): Column<Row> => ({
    id,
    label,
    isBestHigh: true,
    value: (row) => rateOf(row, at)?.share ?? null,
    cell: (row) => <Passed rate={rateOf(row, at)} formats={formats} />,
  });
  if (checks.checks.length > MOST_CHECKS) return [column("checks", "Checks")];
  return checks.checks.map(({ name }, at) => column(`check-${at}`, name, at));
}

type Rate = NonNullable<Report["checks"]>["rows"][number]["mean"];

function Passed({ rate, formats }: { rate: Rate | undefined; formats: Formats }) {
  if (!rate || rate.share === null) return <>–</>;
  const passed = rate.share * rate.documents;
  const isWhole = Math.abs(passed - Math.round(passed)) < 1e-6;
  return (
    <span className={`whole-word ${rate.share === 1 ? "good" : ""}`}>
      {isWhole
        ? `${formats.integer(Math.round(passed))}/${formats.integer(rate.documents)}`
        : formats.percent(rate.share)}{" "}
      <span aria-hidden>{rate.share === 1 ? "✓" : "✗"}</span>
    </span>
  );
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
      <strong className="share">{measure ? write(measure.value) : "–"}</strong>
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
