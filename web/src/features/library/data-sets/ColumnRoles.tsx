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

/** What each column is. The column that names the rows stays it for good. */
export function ColumnRoles({ columns, onChange, error }: Props) {
  const set = (place: number, role: Role) =>
    onChange(columns.map((column, index) => (index === place ? { ...column, role } : column)));
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
                  disabled={role === "id"}
                  faults={columnFaults(error, columns, place)}
                  onChange={(event) => set(place, event.target.value as Role)}
                >
                  {(Object.keys(ROLES) as Role[])
                    .filter((one) => one !== "id" || role === "id")
                    .map((one) => (
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
