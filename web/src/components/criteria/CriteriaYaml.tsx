import { useEffect, useRef } from "react";
import { ApiError } from "carrel-sdk";
import { pathInWords } from "../../lib/pathWords";
import { lineIn, spanOf, withoutLine } from "../../lib/yamlLines";
import { Button } from "../Button";
import { Note } from "../Feedback";
import { TextArea } from "../Field";

interface Props {
  body: string;
  error: unknown;
  onChange: (body: string) => void;
}

/** Criteria as their user may write them by hand; a fault leads to its line. */
export function CriteriaYaml({ body, error, onChange }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const faults = error instanceof ApiError ? error.faults.filter(({ path }) => /^body\b/.test(path)) : [];
  const go = (line: number | undefined) => {
    const area = frame.current?.querySelector("textarea");
    if (!area || line === undefined) return;
    area.focus();
    area.setSelectionRange(...spanOf(area.value, line));
  };
  const first = faults.map(({ message }) => lineIn(message)).find((line) => line !== undefined);
  // Only a new refusal moves the cursor.
  useEffect(() => {
    go(first);
  }, [error]); // eslint-disable-line react-hooks/exhaustive-deps
  return (
    <div className="stack" ref={frame}>
      {faults.length > 0 && (
        <Note tone="bad" role="alert">
          <ul className="stack tight">
            {faults.map(({ path, message }) => {
              const line = lineIn(message);
              return (
                <li key={path + message} className="row tight">
                  {line !== undefined && (
                    <Button small onPress={() => go(line)}>
                      Line {line}
                    </Button>
                  )}
                  <span>
                    {path === "body" ? "The list" : pathInWords(path)} {withoutLine(message)}.
                  </span>
                </li>
              );
            })}
          </ul>
        </Note>
      )}
      <TextArea
        editor
        label="Criteria in YAML"
        hideLabel
        value={body}
        spellCheck={false}
        placeholder={PLACEHOLDER}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  );
}

const PLACEHOLDER =
  "- name: completeness\n  description: Holds the main points of the document.\n  weight: 2\n- name: clarity";
