import type { ContentSummary } from "../../api/types";
import { Note } from "../../components/Feedback";
import { VirtualList } from "../../components/VirtualList";

const AT_ONCE = 40;

interface Props {
  title: string;
  hint: string;
  none: string;
  documents: readonly ContentSummary[];
  texts: readonly ContentSummary[];
  pairs: Record<string, string>;
  faults: readonly string[];
  onChange: (pairs: Record<string, string>) => void;
}

/** For some of the documents a text that belongs to each. */
export function Pairings({ title, hint, none, documents, texts, pairs, faults, onChange }: Props) {
  const set = (document: string, text: string) => {
    const next = Object.fromEntries(Object.entries(pairs).filter(([id]) => id !== document));
    onChange(text ? { ...next, [document]: text } : next);
  };
  const line = (document: ContentSummary) => (
    <label className="pairing">
      <span className="ellipsis">{document.name}</span>
      <select
        className="input"
        value={pairs[document.id] ?? ""}
        onChange={(event) => set(document.id, event.target.value)}
      >
        <option value="">{none}</option>
        {texts.map((text) => (
          <option key={text.id} value={text.id}>
            {text.name}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <fieldset className="stack tight">
      <legend className="label">{title}</legend>
      <p className="small dim">{hint}</p>
      {documents.length === 0 && <Note>Choose the documents first.</Note>}
      {faults.map((fault) => (
        <p key={fault} className="fault small bad">
          {fault}
        </p>
      ))}
      {documents.length <= AT_ONCE ? (
        documents.map((document) => <div key={document.id}>{line(document)}</div>)
      ) : (
        <div className="picker">
          <VirtualList items={documents} label={title} estimate={44} keyOf={(document) => document.id} render={line} />
        </div>
      )}
    </fieldset>
  );
}
