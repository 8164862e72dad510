import type { ReactNode } from "react";
import type { Passport } from "../api/types";
import { useFormats } from "../app/context";
import type { Formats } from "../lib/format";
import { type Written, writtenDifference, writtenShare } from "../lib/intervals";
import type { Column } from "./table/column";
import { DataTable } from "./table/DataTable";

export interface PassportRow {
  judge: string;
  below?: ReactNode;
  passport: Passport;
}

/** How judges behave: a row for each, with intervals. */
export function Passports({ label, rows }: { label: string; rows: readonly PassportRow[] }) {
  const formats = useFormats();
  return (
    <DataTable
      label={label}
      className="roomy"
      unsorted="As they come"
      rows={rows}
      keyOf={({ judge }) => judge}
      columns={columnsOf(formats)}
      wordsOf={({ judge }) => judge}
    />
  );
}

function columnsOf(formats: Formats): [Column<PassportRow>, ...Column<PassportRow>[]] {
  const share = (
    id: keyof Passport & ("consistent" | "flips" | "first" | "longer" | "with_people"),
    label: string,
  ): Column<PassportRow> => ({
    id,
    label,
    isBestHigh: true,
    value: ({ passport }) => passport[id].share,
    cell: ({ passport }) => <WrittenFigure of={writtenShare(passport[id], formats)} />,
  });
  return [
    {
      id: "judge",
      label: "Judge",
      isText: true,
      value: ({ judge }) => judge,
      cell: ({ judge, below }) => (
        <>
          {judge}
          {below && <span className="dim small block">{below}</span>}
        </>
      ),
    },
    {
      id: "verdicts",
      label: "Verdicts",
      isBestHigh: true,
      value: ({ passport }) => passport.verdicts,
      cell: ({ passport }) => formats.integer(passport.verdicts),
    },
    share("consistent", "Same both ways"),
    { ...share("flips", "Flips"), term: "flip" },
    share("first", "Takes the first"),
    share("longer", "Takes the longer"),
    share("with_people", "Agrees with people"),
    {
      id: "leniency",
      label: "Leniency",
      term: "leniency",
      isBestHigh: true,
      value: ({ passport }) => passport.leniency.difference,
      cell: ({ passport }) => <WrittenFigure of={writtenDifference(passport.leniency, formats)} />,
    },
  ];
}

/** A figure in a table, with its interval below it. */
export function WrittenFigure({ of: { value, interval } }: { of: Written }) {
  return (
    <>
      {value}
      {interval && <span className="dim small block">{interval}</span>}
    </>
  );
}
