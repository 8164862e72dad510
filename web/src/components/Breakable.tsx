import { Fragment } from "react";

const BREAKS = /(?<=[:/_·-])|(?=[.])/;

/** A name that may break at its marks, as `local:reader` and `thread_51361.md` may, and not inside its words. */
export function Breakable({ name }: { name: string }) {
  return name.split(BREAKS).map((part, at) => (
    <Fragment key={at}>
      {at > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
