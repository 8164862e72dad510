import { Fragment } from "react";

const AFTER = /(?<=[:/_.·-])/;

/** A name that may break after its marks, such as in `local:reader` or `thread_51361.md`, and not inside its words. */
export function Breakable({ name }: { name: string }) {
  return name.split(AFTER).map((part, at) => (
    <Fragment key={at}>
      {at > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
