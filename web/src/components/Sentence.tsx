import type { Part } from "../lib/sentence";
import { Mark } from "./Mark";

interface Props {
  parts: readonly Part[];
  numberOf: (candidate: string) => number;
}

/** Words with names of candidates, each with its mark. */
export function Sentence({ parts, numberOf }: Props) {
  return parts.map((part, at) =>
    typeof part === "string" ? (
      part
    ) : (
      <span key={at} className="marked">
        <Mark number={numberOf(part.candidate)} /> {part.candidate}
      </span>
    ),
  );
}
