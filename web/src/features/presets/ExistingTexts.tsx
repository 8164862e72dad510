import { useQuery } from "@tanstack/react-query";
import { contentChoiceQuery } from "../../api/queries";
import type { ContentSummary } from "../../api/types";
import { useApi } from "../../app/context";
import { Pairings } from "./Pairings";

interface Props {
  existing: Record<string, string>;
  documents: readonly ContentSummary[];
  faults: readonly string[];
  onChange: (existing: Record<string, string>) => void;
}

/**
 * For each document a text that is there already: today's output, or what a person wrote. It takes part without a call.
 */
export function ExistingTexts({ existing, documents, faults, onChange }: Props) {
  const api = useApi();
  const outputs = useQuery(contentChoiceQuery(api, "output_document"));
  const inputs = useQuery(contentChoiceQuery(api, "input_document"));
  return (
    <Pairings
      title="Existing texts"
      hint="A baseline that costs nothing: today’s output, or a person’s. Put such texts into the library as output documents."
      none="No text"
      documents={documents}
      texts={[...(outputs.data ?? []), ...(inputs.data ?? [])]}
      pairs={existing}
      faults={faults}
      onChange={onChange}
    />
  );
}
