import { Link } from "@tanstack/react-router";
import type { BoardCandidate, Leaderboard, Ranking, Row } from "../../api/types";
import type { Column } from "../../components/table/column";
import { Mark } from "../../components/Mark";
import type { Formats } from "../../lib/format";
import { type Measure, measureOf } from "../../lib/interval";
import { range } from "../../lib/intervals";
import { madeBy } from "../../lib/modelAt";
import { inTime, perThousand, priced } from "../../lib/spend";

export interface Entry {
  /** The number that the candidate's mark follows. */
  number: number;
  candidate: BoardCandidate;
  row: Row | undefined;
  measure: Measure | undefined;
  /** The newest run that it took part in. */
  last: Leaderboard["runs"][number] | undefined;
}

/** The candidates of a leaderboard, in the order of the ranking. */
export function entriesOf({ candidates, ranking, runs }: Leaderboard): Entry[] {
  const places = new Map(ranking?.rows.map((row, place) => [row.candidate, place]));
  const entries = candidates.map((candidate, number) => {
    const row = ranking?.rows[places.get(candidate.candidate) ?? -1];
    const measure = ranking && row ? measureOf(ranking, row) : undefined;
    return { number, candidate, row, measure, last: runs.find(({ id }) => id === candidate.runs[0]) };
  });
  const placeOf = ({ candidate }: Entry) => places.get(candidate.candidate) ?? candidates.length;
  return entries.sort((one, other) => placeOf(one) - placeOf(other));
}

/** What is known of the candidates. A column of which nobody knows anything is left out. */
export function columnsOf(
  entries: readonly Entry[],
  ranking: Ranking | null,
  formats: Formats,
): [Column<Entry>, ...Column<Entry>[]] {
  const isByScore = ranking?.basis === "scores";
  const share = (value: number) => (isByScore ? formats.decimal(value) : formats.percent(value));
  const known = (columns: Column<Entry>[]) =>
    columns.filter((column) => entries.some((entry) => column.value?.(entry) !== null));
  const name: Column<Entry> = {
    id: "name",
    label: "Candidate",
    isText: true,
    value: ({ candidate }) => candidate.candidate,
    cell: (entry) => <Name entry={entry} />,
  };
  const figures: Column<Entry>[] = [
    {
      id: "quality",
      label: isByScore ? "Score" : "Preferred",
      isBestHigh: true,
      value: ({ measure }) => measure?.value ?? null,
      cell: ({ measure }) => <Rate of={measure && { ...measure, share: measure.value }} write={share} />,
    },
    {
      id: "checks",
      label: "Passes checks",
      isBestHigh: true,
      value: ({ candidate }) => candidate.passes?.share ?? null,
      cell: ({ candidate }) => <Rate of={candidate.passes ?? undefined} write={(value) => formats.percent(value)} />,
    },
    {
      id: "cost",
      label: "Cost per 1,000",
      value: ({ candidate: { cost_per_answer: cost } }) => (cost === null ? null : Number(cost)),
      cell: ({ candidate: { cost_per_answer: cost } }) =>
        cost === null ? <span className="dim">unknown</span> : priced(perThousand(cost), formats.briefDollars),
    },
    {
      id: "median",
      label: "Median time",
      value: ({ candidate }) => candidate.median_latency_ms,
      cell: ({ candidate }) => inTime(candidate.median_latency_ms, formats),
    },
    {
      id: "p95",
      label: "95 % within",
      value: ({ candidate }) => candidate.p95_latency_ms,
      cell: ({ candidate }) => inTime(candidate.p95_latency_ms, formats),
    },
    {
      id: "words",
      label: "Words",
      isExtra: true,
      value: ({ candidate }) => candidate.mean_words,
      cell: ({ candidate }) => (candidate.mean_words === null ? "–" : formats.integer(candidate.mean_words)),
    },
    {
      id: "documents",
      label: "Documents",
      isBestHigh: true,
      value: ({ row }) => row?.documents || null,
      cell: ({ row }) => (row?.documents ? formats.integer(row.documents) : "–"),
    },
    {
      id: "answers",
      label: "Answers",
      isBestHigh: true,
      isExtra: true,
      value: ({ candidate }) => candidate.answers,
      cell: ({ candidate: { answers, delivered } }) =>
        answers === delivered
          ? formats.integer(answers)
          : `${formats.integer(delivered)} of ${formats.integer(answers)}`,
    },
    {
      id: "runs",
      label: "Comparisons",
      isBestHigh: true,
      value: ({ candidate }) => candidate.runs.length,
      cell: ({ candidate }) => formats.integer(candidate.runs.length),
    },
    {
      id: "last",
      label: "Last comparison",
      isText: true,
      isBestHigh: true,
      value: ({ last }) => last?.finished_at ?? null,
      cell: ({ last }) =>
        last && (
          <Link to="/runs/$runId" params={{ runId: last.id }}>
            {last.finished_at ? formats.day(last.finished_at.slice(0, 10)) : last.name}
          </Link>
        ),
    },
  ];
  return [name, ...known(figures)];
}

function Name({ entry: { candidate, number, row } }: { entry: Entry }) {
  return (
    <>
      <Mark number={number} /> {candidate.candidate} {row?.is_best && <span className="chip good">best</span>}
      {madeBy(candidate) !== candidate.candidate && (
        <span className="dim small block">{madeBy(candidate) ?? "finished texts"}</span>
      )}
    </>
  );
}

interface RateProps {
  of: { share: number | null; low: number | null; high: number | null } | undefined;
  write: (value: number) => string;
}

function Rate({ of, write }: RateProps) {
  if (!of || of.share === null) return <span className="dim">–</span>;
  return (
    <>
      <strong>{write(of.share)}</strong>
      {of.low !== null && of.high !== null && <span className="dim small block">{range(of.low, of.high, write)}</span>}
    </>
  );
}
