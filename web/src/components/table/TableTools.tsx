import { Search } from "lucide-react";
import { Disclosure } from "../Disclosure";
import { Check, SelectField } from "../Field";
import { DensityChoice } from "./DensityChoice";
import type { Column } from "./column";

interface ToolsProps<R> {
  columns: readonly Column<R>[];
  chosen: readonly string[];
  onChoose: (id: string) => void;
}

/** Below a table: which columns it shows, and how close its rows stand, as those of every table. */
export function TableTools<R>({ columns, chosen, onChoose }: ToolsProps<R>) {
  const shown = columns.filter(({ id }) => chosen.includes(id));
  return (
    <Disclosure isLazy title="Columns" summary={shown.map(({ label }) => label).join(", ")}>
      <div className="row between">
        <div className="row" role="group" aria-label="Columns that are shown">
          {columns.map(({ id, label }) => (
            <Check key={id} label={label} checked={chosen.includes(id)} onChange={() => onChoose(id)} />
          ))}
        </div>
        <DensityChoice />
      </div>
    </Disclosure>
  );
}

interface SortProps<R> {
  unsorted: string;
  by: Column<R> | undefined;
  columns: readonly Column<R>[];
  onSort: (column: Column<R> | undefined) => void;
}

/** On a phone the heads are gone, and this sorts in their place. */
export function SortSelect<R>({ unsorted, by, columns, onSort }: SortProps<R>) {
  return (
    <div className="only-phone">
      <SelectField
        label="Sort by"
        value={by?.id ?? ""}
        onChange={(event) => onSort(columns.find(({ id }) => id === event.target.value))}
      >
        <option value="">{unsorted}</option>
        {columns
          .filter(({ value }) => value)
          .map(({ id, label }) => (
            <option key={id} value={id}>
              {label}
            </option>
          ))}
      </SelectField>
    </div>
  );
}

interface FilterProps {
  label: string;
  words: string;
  onWords: (words: string) => void;
}

export function Filter({ label, words, onWords }: FilterProps) {
  return (
    <div className="search limited">
      <Search size={16} aria-hidden />
      <input
        className="input"
        type="search"
        aria-label={`Filter: ${label}`}
        placeholder="Words"
        value={words}
        onChange={(event) => onWords(event.target.value)}
      />
    </div>
  );
}
