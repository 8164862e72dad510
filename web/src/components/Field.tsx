import { type ClipboardEvent, type ComponentProps, type ReactNode, useId } from "react";
import { toast } from "./Toasts";

interface FieldProps {
  label: string;
  hint?: ReactNode;
  faults?: readonly string[];
  hideLabel?: boolean;
}

interface Wiring {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": boolean;
}

/** A label, a control, a hint and its faults, tied together for screen readers. */
export function Field({
  label,
  hint,
  faults = [],
  hideLabel,
  children,
}: FieldProps & { children: (wiring: Wiring) => ReactNode }) {
  const id = useId();
  const about = [hint ? `${id}-hint` : "", faults.length ? `${id}-fault` : ""].join(" ").trim();
  return (
    <div className="field">
      <label htmlFor={id} className={hideLabel ? "visually-hidden" : undefined}>
        {label}
      </label>
      {children({ id, "aria-describedby": about || undefined, "aria-invalid": faults.length > 0 })}
      {hint && (
        <span className="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {faults.length > 0 && (
        <span className="fault" id={`${id}-fault`} role="alert">
          {faults.join("; ")}
        </span>
      )}
    </div>
  );
}

type InputProps = FieldProps & Omit<ComponentProps<"input">, "id" | "className">;

export function TextField({ label, hint, faults, hideLabel, ...rest }: InputProps) {
  return (
    <Field {...fieldProps({ label, hint, faults, hideLabel })}>
      {(wiring) => <input type="text" dir="auto" autoComplete="off" {...rest} {...wiring} className="input" />}
    </Field>
  );
}

type AreaProps = FieldProps & Omit<ComponentProps<"textarea">, "id" | "className"> & { editor?: boolean };

export function TextArea({ label, hint, faults, hideLabel, editor, ...rest }: AreaProps) {
  return (
    <Field {...fieldProps({ label, hint, faults, hideLabel })}>
      {(wiring) => (
        <textarea dir="auto" onPaste={refuseLong} {...rest} {...wiring} className={`input ${editor ? "editor" : ""}`} />
      )}
    </Field>
  );
}

type SelectProps = FieldProps & Omit<ComponentProps<"select">, "id" | "className">;

export function SelectField({ label, hint, faults, hideLabel, children, ...rest }: SelectProps) {
  return (
    <Field {...fieldProps({ label, hint, faults, hideLabel })}>
      {(wiring) => (
        <select {...rest} {...wiring} className="input">
          {children}
        </select>
      )}
    </Field>
  );
}

export function Check({ label, ...rest }: { label: ReactNode } & Omit<ComponentProps<"input">, "type">) {
  return (
    <label className="check">
      <input type="checkbox" {...rest} />
      <span>{label}</span>
    </label>
  );
}

/** A field with many megabytes stops the page for seconds, and no text may be as long: such a text is better a file. */
const MOST_PASTED = 2_000_000;

function refuseLong(event: ClipboardEvent) {
  const { length } = event.clipboardData.getData("text");
  if (length <= MOST_PASTED) return;
  event.preventDefault();
  toast.failed(
    new Error(`${Math.round(length / 1e6)} million characters are more than a text may have. Bring a file.`),
  );
}

/** Only the given properties: an absent property is not the same as an undefined one. */
function fieldProps(props: {
  label: string;
  hint: ReactNode;
  faults: readonly string[] | undefined;
  hideLabel: boolean | undefined;
}): FieldProps {
  return {
    label: props.label,
    ...(props.hint ? { hint: props.hint } : {}),
    ...(props.faults ? { faults: props.faults } : {}),
    ...(props.hideLabel ? { hideLabel: true } : {}),
  };
}
