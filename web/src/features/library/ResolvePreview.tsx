import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import type { Content } from "../../api/types";
import { useApi } from "../../app/context";
import { Note } from "../../components/Feedback";
import { TextArea } from "../../components/Field";
import { QueryView } from "../../components/QueryView";
import { Scroll } from "../../components/Scroll";
import { resolutionQuery } from "./queries";

/** The text as a run would see it: the service replaces every placeholder by the rules of a run. */
export function ResolvePreview({ content }: { content: Content }) {
  const [values, setValues] = useState<Record<string, string>>({});
  const given = useDeferredValue(values);
  const query = useQuery({
    ...resolutionQuery(useApi(), content.id, content.version, given),
    placeholderData: (before) => before,
  });
  const open = [...new Set([...Object.keys(values), ...(query.data?.unresolved ?? [])])];
  const set = (name: string, text: string) =>
    setValues(Object.fromEntries(Object.entries({ ...values, [name]: text }).filter(([, value]) => value)));
  return (
    <div className="stack">
      {open.map((name) => (
        <TextArea
          key={name}
          rows={2}
          label={`Text for {{${name}}}`}
          value={values[name] ?? ""}
          onChange={(event) => set(name, event.target.value)}
        />
      ))}
      <QueryView query={query}>
        {(resolution) => (
          <>
            {resolution.unresolved.length > 0 && (
              <Note tone="warn">Still open: {resolution.unresolved.join(", ")}. A run asks for them.</Note>
            )}
            <Scroll isPane label="The text as a run sees it">
              <pre>{resolution.body}</pre>
            </Scroll>
          </>
        )}
      </QueryView>
    </div>
  );
}
