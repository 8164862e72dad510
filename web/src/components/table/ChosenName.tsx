import type { ReactNode } from "react";

interface Props {
  label: string;
  isChosen: boolean;
  onToggle: () => void;
  children: ReactNode;
}

/** The first cell of a row that can be chosen: a box to tick, and what names the row. */
export function ChosenName({ label, isChosen, onToggle, children }: Props) {
  return (
    <div className="chosen-name">
      <input type="checkbox" aria-label={label} checked={isChosen} onChange={onToggle} />
      <div className="grow">{children}</div>
    </div>
  );
}
