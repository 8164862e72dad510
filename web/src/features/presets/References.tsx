import { useQuery } from "@tanstack/react-query";
import { contentChoiceQuery } from "../../api/queries";
import type { ContentSummary } from "../../api/types";
import { useApi } from "../../app/context";
import { Button } from "../../components/Button";
import { suggestedReferences } from "./draft";
import { Pairings } from "./Pairings";

interface Props {
  references: Record<string, string>;
  documents: readonly ContentSummary[];
  faults: readonly string[];
  onChange: (references: Record<string, string>) => void;
}

/** What a good answer to a document is held to, for those documents that have such a text. */
export function References({ references, documents, faults, onChange }: Props) {
  const texts = useQuery(contentChoiceQuery(useApi(), "reference_document")).data ?? [];
  const count = Object.keys(references).length;
  const more = suggestedReferences(documents, texts, references);
  return (
    <details open={count > 0 || faults.length > 0}>
      <summary>References{count > 0 && `: ${count} of ${documents.length} documents`}</summary>
      <div className="stack inset">
        <Pairings
          title="What a good answer is held to"
          hint="A summary that a person wrote, say, or the right result. Put such texts into the library as reference documents; a document without one is judged without."
          none="No reference"
          documents={documents}
          texts={texts}
          pairs={references}
          faults={faults}
          onChange={onChange}
        />
        {more.size > 0 && (
          <div>
            <Button small onPress={() => onChange({ ...references, ...Object.fromEntries(more) })}>
              Pair {more.size} by {more.size === 1 ? "its name" : "their names"}
            </Button>
          </div>
        )}
      </div>
    </details>
  );
}
