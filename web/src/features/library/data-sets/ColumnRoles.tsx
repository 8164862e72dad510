import type { DataSetColumn } from "../../../api/types";
import { SelectField } from "../../../components/Field";
import { Scroll } from "../../../components/Scroll";
import { columnFaults } from "./places";

type Role = DataSetColumn["role"];

const ROLES: Record<Role, string> = {
  id: "names the row",
  variable: "what the row asks",
  messages: "a conversation to go on with",
  expected: "the expected answer",
  group: "rows that count together",
  output: "a finished answer",
  metadata: "anything else",
};

interface Props {
  columns: readonly DataSetColumn[];
  onChange: (columns: DataSetColumn[]) => void;
  error: unknown;
}

/** At most one column has each of these. */
const SINGLE: readonly Role[] = ["id", "messages", "expected", "group"];

/** What each column is. Of a role that only one may have, the column before is anything else then. */
export function ColumnRoles({ columns, onChange, error }: Props) {
  const set = (place: number, role: Role) =>
    onChange(
      columns.map((column, index) =>
        index === place
          ? { ...column, role }
          : column.role === role && SINGLE.includes(role)
            ? { ...column, role: "metadata" }
            : column,
      ),
    );
  return (
    <Scroll label="Columns and their roles">
      <table className="table middle data roles">
        <thead>
          <tr>
            <th scope="col">Column</th>
            <th scope="col">What it is</th>
          </tr>
        </thead>
        <tbody>
          {columns.map(({ name, role }, place) => (
            <tr key={name} data-part={`columns[${place}]`}>
              <th scope="row">{name}</th>
              <td>
                <SelectField
                  label={`Role of ${name}`}
                  hideLabel
                  value={role}
                  faults={columnFaults(error, columns, place)}
                  onChange={(event) => set(place, event.target.value as Role)}
                >
                  {(Object.keys(ROLES) as Role[]).map((one) => (
                    <option key={one} value={one}>
                      {one}: {ROLES[one]}
                    </option>
                  ))}
                </SelectField>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
