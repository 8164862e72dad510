import { Fragment } from "react";

/** After a mark and before a dot, but not before the last dot, where the ending of a file begins. */
const BREAKS = /(?<=[:/_·-])(?!\.[^.]*$)|(?=\.[^.]*\.)/;

/** A name that may break at its marks, as `local:reader` and `docs/coverage.md` may, and not inside its words. */
export function Breakable({ name }: { name: string }) {
  return name.split(BREAKS).map((part, at) => (
    <Fragment key={at}>
      {at > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
