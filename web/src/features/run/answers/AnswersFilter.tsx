import { Search } from "lucide-react";
import { useFormats } from "../../../app/context";
import { Segments } from "../../../components/Segments";
import { DensityChoice } from "../../../components/table/DensityChoice";
import { type Filter, FILTERS } from "./gridRows";

const WORDS: Record<Filter, string> = {
  all: "All",
  flips: "Flips",
  failed: "No answer",
  checks: "Fails a check",
  disagreement: "Judges disagree",
  kept: "Kept",
};

interface Props {
  filter: Filter;
  onFilter: (filter: Filter) => void;
  /** How many documents fit each filter, once that is known. */
  counts: Readonly<Record<Filter, number>> | undefined;
  words: string;
  onWords: (words: string) => void;
}

/**
 * Which documents the grid shows; a filter that none fits is left out. A phone has one line for it: a select names the
 * filter in place of the buttons.
 */
export function AnswersFilter({ filter, onFilter, counts, words, onWords }: Props) {
  const formats = useFormats();
  const options = FILTERS.filter((one) => one === "all" || one === filter || counts?.[one]).map(
    (one): [Filter, string] => [one, counts ? `${WORDS[one]} ${formats.integer(counts[one])}` : WORDS[one]],
  );
  return (
    <div className="row answers-filter">
      <div className="when-wide">
        <Segments label="Which documents" value={filter} onChange={onFilter} options={options} />
      </div>
      <select
        className="input when-narrow"
        aria-label="Which documents"
        value={filter}
        onChange={(event) => {
          const chosen = FILTERS.find((one) => one === event.target.value);
          if (chosen) onFilter(chosen);
        }}
      >
        {options.map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
      <div className="search">
        <Search size={16} aria-hidden />
        <input
          className="input"
          type="search"
          aria-label="Find in documents and answers"
          placeholder="Words"
          value={words}
          onChange={(event) => onWords(event.target.value)}
        />
      </div>
      <div className="when-wide">
        <DensityChoice />
      </div>
    </div>
  );
}
