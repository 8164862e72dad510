import { ChevronLeft, ChevronRight } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import type { DocumentReport, Report } from "../../../api/types";
import { useFormats } from "../../../app/context";
import { IconButton } from "../../../components/Button";
import { Empty, Note, Skeleton } from "../../../components/Feedback";
import { SelectField } from "../../../components/Field";
import { Scroll } from "../../../components/Scroll";
import { Segments } from "../../../components/Segments";
import { part } from "../../../lib/part";
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

/** The answers to one document, two at a time, and what the judges said of them. */
export function DocumentsPanel({ report, document: wanted, left, right, onOpen, onPair }: Props) {
  const formats = useFormats();
  const at = Math.max(
    0,
    report.documents.findIndex((one) => one.document === wanted),
  );
  const document = report.documents[at];
  if (!document) return <Empty title="No documents yet" />;
  const turn = (to: DocumentReport | undefined, label: string, icon: React.ReactNode) => (
    <IconButton label={label} icon={icon} variant="plain" isDisabled={!to} onPress={() => to && onOpen(to.document)} />
  );
  const order = report.ranking.rows.map((row) => row.candidate);
  const names = [...new Set([...order, ...document.answers.map((answer) => answer.candidate)])];
  const known = (name: string | undefined) => names.find((one) => one === name);
  const shownLeft = known(left) ?? names[0] ?? "";
  return (
    <div className="stack wide">
      <div className="row bottom">
        <div className="grow limited">
          <SelectField label="Document" value={document.document} onChange={(event) => onOpen(event.target.value)}>
            {report.documents.map((one) => (
              <option key={one.document} value={one.document}>
                {one.name}
                {one.flips ? ` (${one.flips} ${one.flips === 1 ? "flip" : "flips"})` : ""}
              </option>
            ))}
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
      <Sides
        document={document}
        names={names}
        left={shownLeft}
        right={known(right) ?? names.find((one) => one !== shownLeft) ?? shownLeft}
        onPair={onPair}
      />
      <details className="card">
        <summary>The document itself</summary>
        <Scroll isPlain label="The document">
          <pre className="source">{document.text ?? "It found no room in the report; the export has it."}</pre>
        </Scroll>
      </details>
    </div>
  );
}

interface SidesProps {
  document: DocumentReport;
  names: readonly string[];
  left: string;
  right: string;
  onPair: Props["onPair"];
}

function Sides({ document, names, left, right, onPair }: SidesProps) {
  const [view, setView] = useState<View>("read");
  const [a, b] = [answerOf(document, left), answerOf(document, right)];
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
          <Side names={names} name={left} onName={(name) => onPair({ left: name })} answer={a} label="On the left">
            {a?.text &&
              (view === "diff" && b?.text ? <Diff from={b.text} to={a.text} show="to" /> : <Markdown text={a.text} />)}
          </Side>
          <Side names={names} name={right} onName={(name) => onPair({ right: name })} answer={b} label="On the right">
            {b?.text &&
              (view === "diff" && a?.text ? <Diff from={a.text} to={b.text} show="to" /> : <Markdown text={b.text} />)}
          </Side>
        </div>
      </Suspense>
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
  children: React.ReactNode;
}

function Side({ names, name, onName, answer, label, children }: SideProps) {
  const formats = useFormats();
  const isAwaited = answer?.state === "pending" || answer?.state === "running";
  return (
    <article className="card stack answer">
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
      {answer?.finish_reason === "length" && <span className="chip warn">cut off at the limit of tokens</span>}
      {answer?.sources && answer.sources.length > 0 && (
        <p className="small dim">Made from the answers of {answer.sources.join(", ")}.</p>
      )}
      {children}
      {answer?.citations && answer.citations.length > 0 && <Citations citations={answer.citations} />}
      {answer && answer.marks.length > 0 && <Marks answer={answer} />}
    </article>
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
