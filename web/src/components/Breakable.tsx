import { Fragment } from "react";

/** After a mark and before a dot, but not before the last dot, where the ending of a file begins. */
const BREAKS = /(?<=[:/_·-])(?!\.[^.]*$)|(?=\.[^.]*\.)/;

/** An ending and what is just before it, which stay together where even a word has to be broken. */
const ENDING = /[^:/_·.-]{0,3}\.\w+$/;

/** A name that may break at its marks, as `local:reader` and `docs/coverage.md` may, and not inside its words. */
export function Breakable({ name }: { name: string }) {
  const ending = ENDING.exec(name)?.[0] ?? "";
  const parts = name.split(BREAKS);
  return parts.map((part, at) => (
    <Fragment key={at}>
      {at > 0 && <wbr />}
      {ending && at === parts.length - 1 ? (
        <>
          {part.slice(0, -ending.length)}
          <span className="ending">{ending}</span>
        </>
      ) : (
        part
      )}
    </Fragment>
  ));
}
