import type { ReactNode, Ref } from "react";

interface Props {
  labelledBy?: string;
  label?: string;
  isTall?: boolean;
  isPlain?: boolean;
  isPane?: boolean;
  ref?: Ref<HTMLDivElement>;
  children: ReactNode;
}

/** A wide table, or a long text, scrolls inside its own frame, which a keyboard can reach. */
export function Scroll({ labelledBy, label, isTall, isPlain, isPane, ref, children }: Props) {
  return (
    <div
      ref={ref}
      className={`scroll ${isPane ? "card pane" : isPlain ? "" : "card flush"} ${isTall ? "tall" : ""}`}
      // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      role="group"
      aria-labelledby={labelledBy}
      aria-label={label}
    >
      {children}
    </div>
  );
}
