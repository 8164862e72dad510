import { useQuery } from "@tanstack/react-query";
import { contentChoiceQuery } from "../../api/queries";
import type { ContentSummary } from "../../api/types";
import { useApi } from "../../app/context";
import { Note } from "../../components/Feedback";

interface Props {
  existing: Record<string, string>;
  documents: readonly ContentSummary[];
  faults: readonly string[];
  onChange: (existing: Record<string, string>) => void;
}

/** For each document a text that is there already: today's output, or what a person wrote. It takes part without a call. */
export function ExistingTexts({ existing, documents, faults, onChange }: Props) {
  const api = useApi();
  const outputs = useQuery(contentChoiceQuery(api, "output_document"));
  const references = useQuery(contentChoiceQuery(api, "reference_document"));
  const texts = [...(outputs.data ?? []), ...(references.data ?? [])];
  const set = (document: string, text: string) => {
    const next = Object.fromEntries(Object.entries(existing).filter(([id]) => id !== document));
    onChange(text ? { ...next, [document]: text } : next);
  };
  return (
    <fieldset className="stack tight">
      <legend className="label">Existing texts</legend>
      <p className="small dim">A baseline that costs nothing: today’s output, or a person’s. Put such texts into the library as output documents.</p>
      {documents.length === 0 && <Note>Choose the documents first.</Note>}
      {faults.map((fault) => (
        <p key={fault} className="fault small bad">
          {fault}
        </p>
      ))}
      {documents.map((document) => (
        <label key={document.id} className="pairing">
          <span className="ellipsis">{document.name}</span>
          <select className="input" value={existing[document.id] ?? ""} onChange={(event) => set(document.id, event.target.value)}>
            <option value="">No text</option>
            {texts.map((text) => (
              <option key={text.id} value={text.id}>
                {text.name}
              </option>
            ))}
          </select>
        </label>
      ))}
    </fieldset>
  );
}
