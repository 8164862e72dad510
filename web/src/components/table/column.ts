/** A column of a table, of rows of one kind. */
import type { ReactNode } from "react";
import type { Entry } from "../../lib/glossary";
import type { Value } from "../../lib/tableView";

export interface Column<R> {
  id: string;
  label: string;
  /** Left out where nobody sorts, as for buttons: such a column is always shown. */
  value?: (row: R) => Value;
  cell: (row: R) => ReactNode;
  /** The word of the glossary that the label is. */
  term?: Entry;
  /** Whether the largest value comes first when somebody sorts by it. */
  isBestHigh?: boolean;
  isText?: boolean;
  /** What is seen at the head of a column that nobody sorts, where its label is only heard. */
  head?: ReactNode;
  /** `whole`: on a phone it has the width of the card. */
  className?: string;
  /** Whether it is shown only when somebody chooses it. */
  isExtra?: boolean;
  /** What stands below all rows. */
  total?: ReactNode;
}

/** Figures stand at the right edge of their column. */
export function classOf<R>({ isText, className = "" }: Column<R>): string {
  return isText ? className : `n ${className}`;
}
