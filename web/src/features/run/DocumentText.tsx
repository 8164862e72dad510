import type { DocumentReport } from "../../api/types";
import { Scroll } from "../../components/Scroll";

type Turn = NonNullable<DocumentReport["turns"]>[number];

const SPEAKERS: Record<Turn["role"], string> = { system: "System", user: "User", assistant: "Assistant" };

interface Props {
  /** What judges read; of a conversation, it begins with the transcript. */
  text: string;
  turns: readonly Turn[] | null | undefined;
}

/** What was asked about: a conversation turn by turn, or else a text. */
export function DocumentText({ text, turns }: Props) {
  if (!turns?.length)
    return (
      <Scroll isPlain label="The document">
        <pre className="source" dir="auto">
          {text}
        </pre>
      </Scroll>
    );
  return (
    <>
      <Scroll isPlain label="The conversation">
        <ol className="source turns">
          {turns.map((turn, at) => (
            <li key={at} className={turn.role}>
              <strong className="small dim">{SPEAKERS[turn.role]}</strong>
              <p className="prewrap" dir="auto">
                {turn.content}
              </p>
            </li>
          ))}
        </ol>
      </Scroll>
      <details className="small">
        <summary>As judges read it</summary>
        <Scroll isPlain label="What judges read">
          <pre className="source">{text}</pre>
        </Scroll>
      </details>
    </>
  );
}
