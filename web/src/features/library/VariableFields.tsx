import { useQuery } from "@tanstack/react-query";
import { contentChoiceQuery } from "../../api/queries";
import { useApi } from "../../app/context";
import { Note } from "../../components/Feedback";

interface Props {
  variables: Record<string, string | null>;
  ownId: string | undefined;
  faults: readonly string[];
  onChange: (variables: Record<string, string | null>) => void;
}

/** The placeholders of the text: each is linked to another content, or left open to be given when a run starts. */
export function VariableFields({ variables, ownId, faults, onChange }: Props) {
  const fragments = useQuery(contentChoiceQuery(useApi(), "fragment"));
  const names = Object.keys(variables);
  if (!names.length) return null;
  // A program may link a text of any type: the variable must not look open.
  const isElsewhere = (id: string | null | undefined) =>
    Boolean(id) && fragments.data !== undefined && !fragments.data.some((content) => content.id === id);
  return (
    <fieldset className="card stack tight">
      <legend className="visually-hidden">Variables</legend>
      <h2>Variables</h2>
      <p className="small dim">
        Link each to a fragment, or leave it open: then its text is asked for when a run starts.
      </p>
      {faults.map((fault) => (
        <Note key={fault} tone="bad">
          {fault}
        </Note>
      ))}
      {names.map((name) => (
        <label key={name} className="pairing">
          <code>{`{{${name}}}`}</code>
          <select
            className="input"
            value={variables[name] ?? ""}
            onChange={(event) => onChange({ ...variables, [name]: event.target.value || null })}
          >
            <option value="">Open: asked for when a run starts</option>
            {isElsewhere(variables[name]) && <option value={variables[name] ?? ""}>A text that is no fragment</option>}
            {fragments.data
              ?.filter((content) => content.id !== ownId)
              .map((content) => (
                <option key={content.id} value={content.id}>
                  {content.name}
                </option>
              ))}
          </select>
        </label>
      ))}
    </fieldset>
  );
}
