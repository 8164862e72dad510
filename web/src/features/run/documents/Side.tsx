import { NotebookPen, Star } from "lucide-react";
import type { DocumentReport } from "../../../api/types";
import { useFormats } from "../../../app/context";
import { Button } from "../../../components/Button";
import { CheckMark } from "../../../components/CheckMark";
import { priced } from "../../../lib/spend";
import type { Kept } from "../useNotes";

export type Answer = DocumentReport["answers"][number];

interface SideProps {
  names: readonly string[];
  name: string;
  onName: (name: string) => void;
  answer: Answer | undefined;
  label: string;
  side: "left" | "right";
  /** The names of the run's checks. */
  checks: readonly string[];
  /** The star and the note. */
  keeps: React.ReactNode;
  children: React.ReactNode;
}

/** One answer with what is known of it, and the choice of another candidate. */
export function Side({ names, name, onName, answer, label, side, checks, keeps, children }: SideProps) {
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
            {formats.counted(answer.words, "word")} ·{" "}
            {answer.reused
              ? "from an earlier run, not paid again"
              : answer.cost === null
                ? "cost unknown"
                : priced(answer.cost, formats.dollars)}
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
        <p className="dim">It is too long to be shown here; the export has it.</p>
      )}
      {answer?.finish_reason === "length" && <span className="chip warn">cut off at the limit of tokens</span>}
      {answer?.sources && answer.sources.length > 0 && (
        <p className="small dim">Made from the answers of {answer.sources.join(", ")}.</p>
      )}
      {answer?.checks?.some((mark) => mark !== null) && (
        <p className="row tight small">
          {answer.checks.map(
            (mark, at) => mark !== null && <CheckMark key={at} name={checks[at] ?? ""} mark={mark} isNamed />,
          )}
        </p>
      )}
      {answer && !isAwaited && keeps}
      {answer?.thought && (
        <details className="small">
          <summary>What the model thought first</summary>
          <p className="prewrap dim">{answer.thought}</p>
        </details>
      )}
      {children}
      {answer?.citations && answer.citations.length > 0 && <Citations citations={answer.citations} />}
      {answer && answer.marks.length > 0 && <Marks answer={answer} />}
    </article>
  );
}

/** A star and a note on an answer, and the buttons that change them. */
export function Keeps({ kept, onStar, onNote }: { kept: Kept; onStar: () => void; onNote: () => void }) {
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
