import { ChevronLeft, ChevronRight, NotebookPen, Star } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import type { DocumentReport, Report } from "../../../api/types";
import { useFormats } from "../../../app/context";
import { Button, IconButton } from "../../../components/Button";
import { Empty, Note, Skeleton } from "../../../components/Feedback";
import { SelectField } from "../../../components/Field";
import { Segments } from "../../../components/Segments";
import { part } from "../../../lib/part";
import { DocumentText } from "../DocumentText";
import { useKeys } from "../../../lib/useKeys";
import { NoteDialog } from "../NoteDialog";
import { type Kept, useNotes } from "../useNotes";
import { VerdictList } from "./VerdictList";

const Markdown = lazy(part(() => import("../../../components/Markdown").then((m) => ({ default: m.Markdown }))));
const Diff = lazy(part(() => import("../../../components/Diff").then((m) => ({ default: m.Diff }))));

interface Props {
  report: Report;
  document: string | undefined;
  /** The two candidates that the address names. */
  left: string | undefined;
  right: string | undefined;
  onOpen: (document: string) => void;
  onPair: (pair: { left?: string; right?: string }) => void;
}

type View = "read" | "diff";

/** So many documents before and after the shown one are proposed: a list of thousands would hold the page up. */
const NEAR = 250;

/** The answers to one document, two at a time, and what the judges said of them. */
export function DocumentsPanel({ report, document: wanted, left, right, onOpen, onPair }: Props) {
  const formats = useFormats();
  const at = Math.max(
    0,
    report.documents.findIndex((one) => one.document === wanted),
  );
  const document = report.documents[at];
  const from = Math.max(0, at - NEAR);
  if (!document) return <Empty title="No documents yet" />;
  const turn = (to: DocumentReport | undefined, label: string, icon: React.ReactNode) => (
    <IconButton label={label} icon={icon} variant="plain" isDisabled={!to} onPress={() => to && onOpen(to.document)} />
  );
  const order = report.ranking.rows.map((row) => row.candidate);
  const names = [...new Set([...order, ...document.answers.map((answer) => answer.candidate)])];
  const known = (name: string | undefined) => names.find((one) => one === name);
  const shownLeft = known(left) ?? names[0] ?? "";
  const itself = (
    <details className="card" open={!!document.turns}>
      <summary>{document.turns ? "The conversation before these answers" : "The document itself"}</summary>
      <DocumentText
        text={document.text ?? "It found no room in the report; the export has it."}
        turns={document.turns}
      />
    </details>
  );
  return (
    <div className="stack wide">
      <div className="row bottom">
        <div className="grow limited">
          <SelectField label="Document" value={document.document} onChange={(event) => onOpen(event.target.value)}>
            {from > 0 && <option disabled>… the grid of answers has all</option>}
            {report.documents.slice(from, at + NEAR + 1).map((one) => (
              <option key={one.document} value={one.document}>
                {one.name}
                {one.flips ? ` (${one.flips} ${one.flips === 1 ? "flip" : "flips"})` : ""}
              </option>
            ))}
            {at + NEAR + 1 < report.documents.length && <option disabled>… the grid of answers has all</option>}
          </SelectField>
        </div>
        <div className="row tight">
          {turn(report.documents[at - 1], "The document before", <ChevronLeft size={18} aria-hidden />)}
          {turn(report.documents[at + 1], "The next document", <ChevronRight size={18} aria-hidden />)}
          <span className="small dim num">
            {formats.integer(at + 1)} of {formats.integer(report.documents.length)}
          </span>
        </div>
      </div>
      {document.turns && itself}
      <Sides
        runId={report.run.id}
        document={document}
        names={names}
        left={shownLeft}
        right={known(right) ?? names.find((one) => one !== shownLeft) ?? shownLeft}
        onPair={onPair}
      />
      {!document.turns && itself}
    </div>
  );
}

interface SidesProps {
  runId: string;
  document: DocumentReport;
  names: readonly string[];
  left: string;
  right: string;
  onPair: Props["onPair"];
}

function Sides({ runId, document, names, left, right, onPair }: SidesProps) {
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

type Answer = DocumentReport["answers"][number];

function answerOf(document: DocumentReport, candidate: string): Answer | undefined {
  return document.answers.find((answer) => answer.candidate === candidate);
}

interface SideProps {
  names: readonly string[];
  name: string;
  onName: (name: string) => void;
  answer: Answer | undefined;
  label: string;
  side: "left" | "right";
  /** The star and the note. */
  keeps: React.ReactNode;
  children: React.ReactNode;
}

function Side({ names, name, onName, answer, label, side, keeps, children }: SideProps) {
  const formats = useFormats();
  const isAwaited = answer?.state === "pending" || answer?.state === "running";
  return (
    <article className="card stack answer" data-side={side}>
      <div className="row between">
        <select
          className="input narrow"
          aria-label={label}
          value={name}
          onChange={(event) => onName(event.target.value)}
        >
          {names.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
        {answer && !isAwaited && (
          <span className="small dim num">
            {formats.integer(answer.words)} {answer.words === 1 ? "word" : "words"} ·{" "}
            {answer.cost === null ? "cost unknown" : Number(answer.cost) ? formats.dollars(answer.cost) : "free"}
          </span>
        )}
      </div>
      {!answer && <p className="dim">There is no answer of this candidate.</p>}
      {isAwaited && (
        <p className="dim">
          {answer.state === "running" ? "The candidate is being asked." : "The candidate was not asked yet."}
        </p>
      )}
      {answer && !answer.delivered && !isAwaited && (
        <p className="bad">
          No answer: {answer.state}
          {answer.error ? ` (${answer.error})` : ""}.
        </p>
      )}
      {answer?.delivered && answer.text === null && (
        <p className="dim">It found no room in the report; the export has it.</p>
      )}
      {answer?.finish_reason === "length" && <span className="chip warn">cut off at the limit of tokens</span>}
      {answer?.sources && answer.sources.length > 0 && (
        <p className="small dim">Made from the answers of {answer.sources.join(", ")}.</p>
      )}
      {answer && !isAwaited && keeps}
      {children}
      {answer?.citations && answer.citations.length > 0 && <Citations citations={answer.citations} />}
      {answer && answer.marks.length > 0 && <Marks answer={answer} />}
    </article>
  );
}

/** A star and a note on an answer, and the buttons that change them. */
function Keeps({ kept, onStar, onNote }: { kept: Kept; onStar: () => void; onNote: () => void }) {
  return (
    <div className="stack tight">
      <div className="row tight">
        <Button small variant="quiet" onPress={onStar} aria-pressed={kept.starred} aria-keyshortcuts="s">
          <Star size={14} className={kept.starred ? "star" : ""} aria-hidden /> {kept.starred ? "Starred" : "Star"}
        </Button>
        <Button small variant="quiet" onPress={onNote} aria-keyshortcuts="n">
          <NotebookPen size={14} aria-hidden /> {kept.note ? "Change the note" : "Note"}
        </Button>
      </div>
      {kept.note && <p className="small prewrap">{kept.note}</p>}
    </div>
  );
}

/** The pages that the answer rests on. Their addresses come from a provider, so only web pages become links. */
function Citations({ citations }: { citations: NonNullable<Answer["citations"]> }) {
  return (
    <div className="small">
      <p className="dim">Found on the web:</p>
      <ul>
        {citations.map(({ url, title }) => (
          <li key={url}>
            {/^https?:\/\//.test(url) ? (
              <a href={url} target="_blank" rel="noreferrer noopener">
                {title || url}
              </a>
            ) : (
              title
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Marks({ answer }: { answer: Answer }) {
  const formats = useFormats();
  return (
    <dl className="marks small">
      {answer.marks.map((mark) => (
        <div key={`${mark.judge} ${mark.repeat}`}>
          <dt>{mark.judge}</dt>
          <dd>
            {mark.fate === "invalid" && <span className="bad">gave no valid scores</span>}
            {Object.entries(mark.values).map(([criterion, value]) => (
              <span key={criterion} className="chip">
                {criterion} {formats.decimal(value, 1)}
              </span>
            ))}
            {mark.said && <p className="dim">{mark.said}</p>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
