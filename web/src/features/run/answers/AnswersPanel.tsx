import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import type { AnswerBeginnings, Figures, Report } from "../../../api/types";
import { useApi } from "../../../app/context";
import { useDensity } from "../../../app/settings";
import { Empty, ErrorNote } from "../../../components/Feedback";
import { NoteDialog } from "../NoteDialog";
import { numbersIn } from "../../../lib/candidates";
import { useSettled } from "../../../lib/useSettled";
import { earlierRound, figuresQuery, foundQuery } from "../queries";
import { useNotes } from "../useNotes";
import { AnswersFilter } from "./AnswersFilter";
import { AnswersGrid } from "./AnswersGrid";
import { counted, type Filter, gridOf, rowOf, shownDocuments, type Sorting } from "./gridRows";

const QUIET_MS = 200;
const NO_CHECKS: readonly string[] = [];

interface Props {
  report: Report;
  onOpen: (document: string, candidate: string) => void;
}

/** All answers of a run at a glance: sorted, filtered and searched, one click away from the evidence. */
export function AnswersPanel({ report, onOpen }: Props) {
  const api = useApi();
  const [filter, setFilter] = useState<Filter>("all");
  const [words, setWords] = useState("");
  const [density] = useDensity();
  const [sorting, setSorting] = useState<Sorting>({ by: undefined, isDescending: false });
  const sought = useSettled(words.trim(), QUIET_MS);
  const isLive = report.state === "running";
  const figures = useQuery(figuresQuery(api, report.run.id, isLive, earlierRound(report)));
  const found = useQuery(foundQuery(api, report.run.id, sought));
  const candidates = useMemo(
    () => [...new Set([...report.ranking.rows, ...report.candidates].map(({ candidate }) => candidate))],
    [report],
  );
  const { notes, of, save, star } = useNotes(report.run.id);
  const [noted, setNoted] = useState<{ document: string; candidate: string }>();
  // The texts of the first rows do not wait for the figures of all.
  const grid = useMemo(
    () => gridOf(figures.data ?? figureless(report), candidates),
    [figures.data, report, candidates],
  );
  const counts = useMemo(() => counted(grid, notes), [grid, notes]);
  const shown = useMemo(
    () => shownDocuments(grid, notes, { filter, words: sought, found: found.data, sorting }),
    [grid, notes, filter, sought, found.data, sorting],
  );
  const row = useCallback(
    (number: number, beginnings: AnswerBeginnings | undefined) => rowOf(grid, number, beginnings, notes),
    [grid, notes],
  );
  // The worst documents of a candidate are what somebody wants to see of it first.
  const sort = (candidate: string) =>
    setSorting(({ by, isDescending }) =>
      by !== candidate
        ? { by: candidate, isDescending: false }
        : isDescending
          ? { by: undefined, isDescending: false }
          : { by: candidate, isDescending: true },
    );
  if (!grid.documents) return <Empty title="No answers yet" />;
  return (
    <div className="stack">
      <AnswersFilter
        filter={filter}
        onFilter={setFilter}
        counts={figures.data && counts}
        words={words}
        onWords={setWords}
      />
      {(figures.error ?? found.error) && <ErrorNote error={figures.error ?? found.error} />}
      {shown.length ? (
        <AnswersGrid
          runId={report.run.id}
          isLive={isLive}
          documents={shown}
          rowOf={row}
          candidates={candidates}
          checks={report.checks?.checks.map(({ name }) => name) ?? NO_CHECKS}
          numberOf={numbersIn(report.candidates)}
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
        The figure is the candidate’s share of pairs won on that document, or else its score or its checks. Arrow keys
        move, Enter opens the answers with what each judge said; a name sorts by that candidate, its worst documents
        first. <kbd>S</kbd> keeps an answer with a star, <kbd>N</kbd> with a note.
      </p>
      {noted && (
        <NoteDialog
          about={`${noted.candidate} on document ${noted.document.slice(1)}`}
          note={of(noted.document, noted.candidate).note}
          onSave={(note) => save(noted.document, noted.candidate, { note })}
          onClose={() => setNoted(undefined)}
        />
      )}
    </div>
  );
}

/** What is known of the answers before their figures have come. */
function figureless(report: Report): Figures {
  const none = { win_share: [], score: [], checks: [], awaited: [], failed: [], cut_off: [], flipped: [] };
  const candidates = report.candidates.map(({ candidate }) => ({ candidate, ...none }));
  return { documents: report.documents_total, candidates, flips: [], disagreements: [] };
}
