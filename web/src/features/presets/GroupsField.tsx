import type { PresetIn } from "../../api/types";
import { SelectField, TextField } from "../../components/Field";

interface Props {
  groups: PresetIn["groups"];
  onChange: (groups: PresetIn["groups"]) => void;
  at: (path: string) => string[];
}

/** What makes documents belong together. A map comes from a program, and the form keeps it as it is. */
export function GroupsField({ groups, onChange, at }: Props) {
  const by = groups?.by ?? "";
  const choose = (value: string) => {
    if (value === "map") return;
    onChange(value === "tag" || value === "name" ? { by: value } : null);
  };
  return (
    <div className="columns" data-part="groups">
      <SelectField
        label="Documents belong together by"
        hint="Documents of one topic, author or source tell less than others, so the verdict counts their groups."
        value={by}
        faults={at("groups")}
        onChange={(event) => choose(event.target.value)}
      >
        <option value="">nothing: each stands alone</option>
        <option value="tag">their first tag</option>
        <option value="name">their folder, or the first words of their names</option>
        {by === "map" && <option value="map">groups that a program gave</option>}
      </SelectField>
      {groups?.by === "tag" && (
        <TextField
          label="Only tags that begin with"
          placeholder="any tag, or such as topic:"
          maxLength={50}
          value={groups.prefix ?? ""}
          faults={at("groups.prefix")}
          onChange={(event) => onChange({ ...groups, prefix: event.target.value })}
        />
      )}
    </div>
  );
}
