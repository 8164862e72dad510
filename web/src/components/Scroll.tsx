import type { ReactNode } from "react";

interface Props {
  labelledBy?: string;
  label?: string;
  isTall?: boolean;
  isPlain?: boolean;
  children: ReactNode;
}

/** A wide table scrolls inside its own frame, which a keyboard can reach. */
export function Scroll({ labelledBy, label, isTall, isPlain, children }: Props) {
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className={`scroll ${isPlain ? "" : "card flush"} ${isTall ? "tall" : ""}`} tabIndex={0} role="region" aria-labelledby={labelledBy} aria-label={label}>
      {children}
    </div>
  );
}
