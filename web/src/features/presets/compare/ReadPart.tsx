import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { documentsQuery, textQuery } from "../../../api/queries";
import type { ContentSummary, Document } from "../../../api/types";
import { useApi, useFormats } from "../../../app/context";
import { Disclosure } from "../../../components/Disclosure";
import { SelectField } from "../../../components/Field";
import { OriginalPages } from "../../../components/originals/OriginalPages";
import { remarksInWords } from "../../../components/originals/remarks";
import { QueryView } from "../../../components/QueryView";
import { ReadingPane } from "../../../components/ReadingPane";

/** What was read of the chosen documents, before anything is spent on it: those with doubtful pages come first. */
export function ReadPart({ documents }: { documents: readonly ContentSummary[] }) {
  const formats = useFormats();
  const originals = useQuery(documentsQuery(useApi())).data;
  const [wanted, setWanted] = useState<string>();
  const isDoubtful = ({ id }: ContentSummary) => {
    const original = originals?.get(id);
    return original !== undefined && remarksInWords(original, true) !== "";
  };
  const doubtful = documents.filter(isDoubtful);
  const sorted = [...doubtful, ...documents.filter((one) => !isDoubtful(one))];
  const shown = sorted.find(({ id }) => id === wanted) ?? sorted[0];
  if (!shown) return null;
  return (
    <Disclosure
      title="See what was read"
      isLazy
      summary={
        doubtful.length > 0 ? (
          <span className="chip warn">{`${formats.integer(doubtful.length)} with doubtful pages`}</span>
        ) : undefined
      }
    >
      <div className="stack tight">
        {sorted.length > 1 && (
          <SelectField label="Document" value={shown.id} onChange={(event) => setWanted(event.target.value)}>
            {sorted.map((one) => (
              <option key={one.id} value={one.id}>
                {isDoubtful(one) ? `${one.name} · doubtful` : one.name}
              </option>
            ))}
          </SelectField>
        )}
        <ReadDocument key={shown.id} content={shown} original={originals?.get(shown.id)} />
      </div>
    </Disclosure>
  );
}

function ReadDocument({ content, original }: { content: ContentSummary; original: Document | undefined }) {
  const leftOut = original && [remarksInWords(original, true), remarksInWords(original, false)].filter(Boolean);
  return (
    <div className="stack tight">
      <p className="small dim">
        {leftOut?.length ? `Doubtful, or not in the text: ${leftOut.join(", ")}. ` : ""}
        <Link to="/library/$contentId" params={{ contentId: content.id }}>
          {original ? "Change it or read it anew" : "Change it"}
        </Link>
      </p>
      {original?.format === "pdf" ? <OriginalPages document={original} /> : <Text contentId={content.id} />}
    </div>
  );
}

function Text({ contentId }: { contentId: string }) {
  const text = useQuery(textQuery(useApi(), contentId));
  return (
    <QueryView query={text}>
      {({ body }) => (
        <ReadingPane label="The text that models get">
          <p className="prewrap" dir="auto">
            {body}
          </p>
        </ReadingPane>
      )}
    </QueryView>
  );
}
