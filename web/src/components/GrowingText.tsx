interface Props {
  text: string;
  /** Something before it is missing. */
  hasGap: boolean;
}

/** A text while it is written: the end of it, in a box that keeps its height, so that nothing moves around it. */
export function GrowingText({ text, hasGap }: Props) {
  return (
    <div className="growing">
      <p className="prewrap">
        {hasGap && "… "}
        {text}
      </p>
    </div>
  );
}
