import { ToggleButton, ToggleButtonGroup } from "react-aria-components";

interface Props<T extends string> {
  label: string;
  value: T;
  options: readonly (readonly [T, string])[];
  onChange: (value: T) => void;
}

/** A choice of a few options, all in sight. */
export function Segments<T extends string>({ label, value, options, onChange }: Props<T>) {
  return (
    <ToggleButtonGroup
      className="segments"
      aria-label={label}
      selectionMode="single"
      disallowEmptySelection
      selectedKeys={[value]}
      onSelectionChange={(keys) => {
        const chosen = options.find(([id]) => keys.has(id));
        if (chosen) onChange(chosen[0]);
      }}
    >
      {options.map(([id, text]) => (
        <ToggleButton key={id} id={id}>
          {text}
        </ToggleButton>
      ))}
    </ToggleButtonGroup>
  );
}
