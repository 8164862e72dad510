import { lazy, Suspense } from "react";
import { faultsAt } from "carrel-sdk";
import type { ContentType } from "../../api/types";
import { CriteriaEditor } from "../../components/criteria/CriteriaEditor";
import { Skeleton } from "../../components/Feedback";
import { TextArea } from "../../components/Field";
import { Scroll } from "../../components/Scroll";
import { part } from "../../lib/part";

const Markdown = lazy(part(() => import("../../components/Markdown").then((m) => ({ default: m.Markdown }))));

interface Props {
  type: ContentType;
  body: string;
  error: unknown;
  onChange: (body: string) => void;
}

/** The text and its preview beside it; criteria have rows instead. */
export function TextEditor({ type, body, error, onChange }: Props) {
  if (type === "criteria") return <CriteriaEditor body={body} error={error} onChange={onChange} />;
  return (
    <div className="two-panes">
      <TextArea
        editor
        label="Text"
        hideLabel
        value={body}
        faults={faultsAt(error, "body")}
        placeholder={placeholderFor(type)}
        onChange={(event) => onChange(event.target.value)}
      />
      <Scroll isPane label="Preview">
        <Suspense fallback={<Skeleton />}>
          <Markdown text={body || "*Nothing written yet.*"} />
        </Suspense>
      </Scroll>
    </div>
  );
}

function placeholderFor(type: ContentType): string {
  if (type === "generation_instructions") return "Summarise the document for {{AUDIENCE}}.\n\n{{document}}";
  return "Markdown, if you like.";
}
