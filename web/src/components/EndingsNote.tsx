import { useQuery } from "@tanstack/react-query";
import { endingsQuery } from "../api/queries";
import type { Configuration, ModelEnding } from "../api/types";
import { useApi } from "../app/context";
import { Note } from "./Feedback";

/** Which models are switched off soon, or were, each with the source that says so. */
export function EndingsNote({ endings }: { endings: readonly ModelEnding[] }) {
  if (!endings.length) return null;
  return (
    <Note tone="warn">
      {endings.map(({ model, sentence, source }) => (
        <p key={model} title={source}>
          {sentence}
        </p>
      ))}
    </Note>
  );
}

/** The same for the models of a configuration. */
export function EndingsOf({ configuration }: { configuration: Configuration }) {
  const { data } = useQuery(endingsQuery(useApi(), modelsIn(configuration)));
  return <EndingsNote endings={data?.items ?? []} />;
}

function modelsIn({ generation, combination, scoring, comparison }: Configuration): string[] {
  const answering = [...generation.candidates, ...(combination?.candidates ?? [])];
  const all = [...answering, ...(scoring?.judges ?? []), ...(comparison?.judges ?? [])];
  return [...new Set(all.flatMap(({ model }) => model ?? []))];
}
