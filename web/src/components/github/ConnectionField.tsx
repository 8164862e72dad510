import type { GithubConnection } from "../../api/types";
import { SelectField } from "../Field";

interface Props {
  label: string;
  hideLabel?: boolean;
  connections: readonly GithubConnection[];
  value: string;
  faults?: readonly string[];
  /** The option for no choice. Without it, one option is always chosen. */
  none?: string;
  onChange: (connectionId: string) => void;
}

/** Chooses one of the connected repositories. A disconnected one stays in sight until another is chosen. */
export function ConnectionField({ label, hideLabel, connections, value, faults = [], none, onChange }: Props) {
  const isGone = value !== "" && !connections.some((connection) => connection.id === value);
  return (
    <SelectField
      label={label}
      hideLabel={hideLabel ?? false}
      value={value}
      faults={faults}
      onChange={(event) => onChange(event.target.value)}
    >
      {none !== undefined && <option value="">{none}</option>}
      {isGone && <option value={value}>Disconnected repository</option>}
      {connections.map((connection) => (
        <option key={connection.id} value={connection.id}>
          {connection.name === connection.repository ? "" : `${connection.name}: `}
          {connection.repository}
          {connection.branch && ` (${connection.branch})`} …{connection.hint}
        </option>
      ))}
    </SelectField>
  );
}
