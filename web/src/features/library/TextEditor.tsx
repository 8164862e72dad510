import { lazy, type RefObject, Suspense, useRef } from "react";
import { ApiError } from "carrel-sdk";
import type { ContentType } from "../../api/types";
import { Button } from "../../components/Button";
import { Note, Skeleton } from "../../components/Feedback";
import { TextArea } from "../../components/Field";
import { Scroll } from "../../components/Scroll";
import { part } from "../../lib/part";
import { lineIn, lineOf, spanOf } from "../../lib/yamlLines";

const Markdown = lazy(part(() => import("../../components/Markdown").then((m) => ({ default: m.Markdown }))));

interface Props {
  type: ContentType;
  body: string;
  error: unknown;
  onChange: (body: string) => void;
}

/** The text, its preview beside it, and its faults above it with the lines where they are. */
export function TextEditor({ type, body, error, onChange }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const isProse = type !== "criteria";
  return (
    <>
      <BodyFaults body={body} error={error} frame={frame} />
      <div className={isProse ? "two-panes" : ""} ref={frame}>
        <TextArea
          editor
          label="Text"
          hideLabel
          value={body}
          spellCheck={isProse}
          placeholder={placeholderFor(type)}
          onChange={(event) => onChange(event.target.value)}
        />
        {isProse && (
          <Scroll isPane label="Preview">
            <Suspense fallback={<Skeleton />}>
              <Markdown text={body || "*Nothing written yet.*"} />
            </Suspense>
          </Scroll>
        )}
      </div>
    </>
  );
}

function BodyFaults({ body, error, frame }: { body: string; error: unknown; frame: RefObject<HTMLDivElement | null> }) {
  const faults =
    error instanceof ApiError ? error.faults.filter(({ path }) => path === "body" || /^body[.[]/.test(path)) : [];
  if (!faults.length) return null;
  const go = (line: number) => {
    const area = frame.current?.querySelector("textarea");
    area?.focus();
    area?.setSelectionRange(...spanOf(body, line));
  };
  return (
    <Note tone="bad" role="alert">
      <ul className="stack tight">
        {faults.map(({ path, message }) => {
          const line = lineOf(body, path) ?? lineIn(message);
          return (
            <li key={path + message} className="row tight">
              {line !== undefined && (
                <Button small onPress={() => go(line)}>
                  Line {line}
                </Button>
              )}
              <span>
                <code>{path.replace(/^body(\[\d+\])?\.?/, "") || "text"}</code> {message}
              </span>
            </li>
          );
        })}
      </ul>
    </Note>
  );
}

function placeholderFor(type: ContentType): string {
  if (type === "criteria")
    return "- name: completeness\n  description: Holds the main points of the document.\n  weight: 2\n- name: clarity";
  if (type === "generation_instructions") return "Summarise the document for {{AUDIENCE}}.\n\n{{document}}";
  return "Markdown, if you like.";
}
