import { lazy, Suspense, useState } from "react";
import type { DocumentReport } from "../../../api/types";
import { Note, Skeleton } from "../../../components/Feedback";
import { Segments } from "../../../components/Segments";
import { part } from "../../../lib/part";
import { useKeys } from "../../../lib/useKeys";
import { NoteDialog } from "../NoteDialog";
import { useNotes } from "../useNotes";
import { type Answer, Keeps, Side } from "./Side";
import { VerdictList } from "./VerdictList";

const Markdown = lazy(part(() => import("../../../components/Markdown").then((m) => ({ default: m.Markdown }))));
const Diff = lazy(part(() => import("../../../components/Diff").then((m) => ({ default: m.Diff }))));

type View = "read" | "diff";

interface SidesProps {
  runId: string;
  document: DocumentReport;
  /** The names of the run's checks. */
  checks: readonly string[];
  names: readonly string[];
  left: string;
  right: string;
  onPair: (pair: { left?: string; right?: string }) => void;
}

/** Two answers beside each other, as they are or with what differs, and what the judges said of them. */
export function Sides({ runId, document, checks, names, left, right, onPair }: SidesProps) {
  const [view, setView] = useState<View>("read");
  const [a, b] = [answerOf(document, left), answerOf(document, right)];
  const { of, save, star } = useNotes(runId);
  const [noted, setNoted] = useState<string>();
  /** The answer that keys are about: the one on the right while the focus is in it, otherwise the one on the left. */
  const chosen = () => (globalThis.document.activeElement?.closest('[data-side="right"]') ? right : left);
  useKeys(noted === undefined ? { s: () => star(document.document, chosen()), n: () => setNoted(chosen()) } : {});
  const keeps = (name: string) => (
    <Keeps
      kept={of(document.document, name)}
      onStar={() => star(document.document, name)}
      onNote={() => setNoted(name)}
    />
  );
  return (
    <>
      <div className="row between">
        <Segments
          label="How to show them"
          value={view}
          onChange={setView}
          options={[
            ["read", "Side by side"],
            ["diff", "Differences"],
          ]}
        />
      </div>
      {left !== right && a?.text && a.text === b?.text && <Note>These two answers are identical.</Note>}
      <Suspense fallback={<Skeleton />}>
        <div className="columns">
          <Side
            names={names}
            name={left}
            onName={(name) => onPair({ left: name })}
            answer={a}
            label="On the left"
            side="left"
            checks={checks}
            keeps={keeps(left)}
          >
            {a?.text &&
              (view === "diff" && b?.text ? <Diff from={b.text} to={a.text} show="to" /> : <Markdown text={a.text} />)}
          </Side>
          <Side
            names={names}
            name={right}
            onName={(name) => onPair({ right: name })}
            answer={b}
            label="On the right"
            side="right"
            checks={checks}
            keeps={keeps(right)}
          >
            {b?.text &&
              (view === "diff" && a?.text ? <Diff from={a.text} to={b.text} show="to" /> : <Markdown text={b.text} />)}
          </Side>
        </div>
      </Suspense>
      {noted !== undefined && (
        <NoteDialog
          about={`${noted} on ${document.name}`}
          note={of(document.document, noted).note}
          onSave={(note) => save(document.document, noted, { note })}
          onClose={() => setNoted(undefined)}
        />
      )}
      {view === "diff" && <p className="small dim">Marked: words that the other answer does not have in this place.</p>}
      <VerdictList document={document} a={left} b={right} />
    </>
  );
}

function answerOf(document: DocumentReport, candidate: string): Answer | undefined {
  return document.answers.find((answer) => answer.candidate === candidate);
}
