import { type ReactNode, useState } from "react";
import { Button } from "./Button";
import { Mark } from "./Mark";
import { Markdown } from "./Markdown";

/** From this many characters on, a card shows the beginning of its text until somebody wants the rest. */
const LONG = 1200;

interface Props {
  /** The number of the candidate, which its mark shows. */
  number: number;
  candidate: string;
  /** The document, where cards of several stand together. */
  document?: string | undefined;
  /** What is known of the answer in a few words each: its time, its tokens, its cost. */
  facts: readonly string[];
  /** The whole text; without one, `children` say why. */
  text?: string | undefined;
  children?: ReactNode;
}

/** One answer of one candidate. */
export function AnswerCard({ number, candidate, document, facts, text, children }: Props) {
  const [isWhole, setWhole] = useState(false);
  const isCut = !isWhole && text !== undefined && text.length > LONG;
  return (
    <article className="answer-card" aria-label={document ? `${candidate}, ${document}` : candidate}>
      <header>
        <Mark number={number} />
        <div className="grow">
          <h3 className="ellipsis" title={candidate}>
            {candidate}
          </h3>
          {document && <p className="small dim ellipsis">{document}</p>}
        </div>
      </header>
      {text !== undefined && (
        <div className={isCut ? "beginning" : ""}>
          <Markdown text={text} />
        </div>
      )}
      {isCut && (
        <div>
          <Button small variant="quiet" onPress={() => setWhole(true)}>
            Show all of it
          </Button>
        </div>
      )}
      {children}
      {facts.length > 0 && <p className="small dim num">{facts.join(" · ")}</p>}
    </article>
  );
}
