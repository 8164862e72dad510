import { Search } from "lucide-react";
import { useDeferredValue, useMemo, useState } from "react";
import type { Report } from "../../../api/types";
import { useFormats } from "../../../app/context";
import { Empty } from "../../../components/Feedback";
import { Segments } from "../../../components/Segments";
import { NoteDialog } from "../NoteDialog";
import { useNotes } from "../useNotes";
import { AnswersGrid, type Density } from "./AnswersGrid";
import { FILTERS, type Filter, fits, rowsOf, shownRows, type Sorting, withNotes } from "./gridRows";

const WORDS: Record<Filter, string> = {
  all: "All",
  flips: "Flips",
  failed: "No answer",
  disagreement: "Judges disagree",
  kept: "Kept",
};

interface Props {
  report: Report;
  onOpen: (document: string, candidate: string) => void;
}

/** All answers of a run at a glance: sorted, filtered and searched, one click away from the evidence. */
export function AnswersPanel({ report, onOpen }: Props) {
  const formats = useFormats();
  const [filter, setFilter] = useState<Filter>("all");
  const [words, setWords] = useState("");
  const [density, setDensity] = useState<Density>("comfortable");
  const [sorting, setSorting] = useState<Sorting>({ by: undefined, isDescending: false });
  const sought = useDeferredValue(words);
  const candidates = useMemo(
    () => [...new Set([...report.ranking.rows, ...report.candidates].map(({ candidate }) => candidate))],
    [report],
  );
  const { notes, of, save, star } = useNotes(report.run.id);
  const [noted, setNoted] = useState<{ document: string; candidate: string }>();
  const plain = useMemo(() => rowsOf(report, candidates), [report, candidates]);
  const rows = useMemo(() => withNotes(plain, notes), [plain, notes]);
  const shown = useMemo(() => shownRows(rows, filter, sought, sorting), [rows, filter, sought, sorting]);
  // The worst documents of a candidate are what somebody wants to see of it first.
  const sort = (candidate: string) =>
    setSorting(({ by, isDescending }) =>
      by !== candidate
        ? { by: candidate, isDescending: false }
        : isDescending
          ? { by: undefined, isDescending: false }
          : { by: candidate, isDescending: true },
    );
  if (!rows.length) return <Empty title="No answers yet" />;
  return (
    <div className="stack">
      <div className="row">
        <Segments
          label="Which documents"
          value={filter}
          onChange={setFilter}
          options={FILTERS.map((one) => [
            one,
            `${WORDS[one]} ${formats.integer(rows.filter((row) => fits(row, one)).length)}`,
          ])}
        />
        <div className="search">
          <Search size={16} aria-hidden />
          <input
            className="input"
            type="search"
            aria-label="Find in documents and answers"
            placeholder="Words"
            value={words}
            onChange={(event) => setWords(event.target.value)}
          />
        </div>
        <Segments
          label="Density"
          value={density}
          onChange={setDensity}
          options={[
            ["comfortable", "Comfortable"],
            ["compact", "Compact"],
          ]}
        />
      </div>
      {shown.length ? (
        <AnswersGrid
          rows={shown}
          candidates={candidates}
          numberOf={(candidate) => report.candidates.findIndex((one) => one.candidate === candidate)}
          density={density}
          sorting={sorting}
          onSort={sort}
          onOpen={onOpen}
          onStar={star}
          onNote={(document, candidate) => setNoted({ document, candidate })}
        />
      ) : (
        <Empty title="No document fits">Choose another filter or other words.</Empty>
      )}
      <p className="small dim">
        The figure is the candidate’s share of comparisons won on that document. Arrow keys move, Enter opens the
        answers with what each judge said; a name sorts by that candidate, its worst documents first. <kbd>S</kbd> keeps
        an answer with a star, <kbd>N</kbd> with a note.
        {report.left_out > 0 &&
          ` So many texts find no room on one page: ${formats.integer(report.left_out)} are left out here, and the export of the run has them.`}
      </p>
      {noted && (
        <NoteDialog
          about={`${noted.candidate} on ${rows.find(({ document }) => document === noted.document)?.name ?? ""}`}
          note={of(noted.document, noted.candidate).note}
          onSave={(note) => save(noted.document, noted.candidate, { note })}
          onClose={() => setNoted(undefined)}
        />
      )}
    </div>
  );
}
