import { diffWordsWithSpace } from "diff";
import { useMemo } from "react";

const LONGEST = 60_000;

/** Two texts word by word. `to` shows only the second one, with what it has of its own marked. */
export function Diff({ from, to, show = "both" }: { from: string; to: string; show?: "both" | "to" }) {
  const parts = useMemo(
    () => (from.length + to.length > LONGEST ? undefined : diffWordsWithSpace(from, to, { timeout: 2000 })),
    [from, to],
  );
  if (!parts) return <p className="dim">These texts are too long, or too different, to be compared word by word.</p>;
  return (
    <div className="diff prewrap">
      {parts.map((part, index) => {
        if (part.added) return <ins key={index}>{part.value}</ins>;
        if (part.removed) return show === "both" ? <del key={index}>{part.value}</del> : null;
        return <span key={index}>{part.value}</span>;
      })}
    </div>
  );
}
