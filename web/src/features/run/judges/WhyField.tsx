import { useId, useRef } from "react";
import { useKeys } from "../../../lib/useKeys";

/** The service's limit. */
const MAX_REASON = 500;
const WHY_KEY = "w";

interface Props {
  /** Between two pairs. */
  isWaiting: boolean;
  value: string;
  onChange: (value: string) => void;
  /** Where the keys that vote work again. */
  onLeave: () => void;
}

/** Why, in a line: it may stay empty. No key votes in it; Enter leaves it. */
export function WhyField({ isWaiting, value, onChange, onLeave }: Props) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  useKeys({ [WHY_KEY]: () => field.current?.focus() });
  return (
    <div className="why">
      <label htmlFor={id} className="small dim">
        Why? <span className="wide-only">(optional)</span> <kbd aria-hidden>W</kbd>
      </label>
      <input
        id={id}
        ref={field}
        className="input"
        type="text"
        autoComplete="off"
        enterKeyHint="done"
        maxLength={MAX_REASON}
        placeholder="If you like, before you vote"
        aria-keyshortcuts={WHY_KEY}
        readOnly={isWaiting}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.nativeEvent.isComposing) return;
          event.preventDefault();
          onLeave();
        }}
      />
    </div>
  );
}
