import { Check, X } from "lucide-react";
import { useFormats } from "../app/context";

/** Whether an answer passes a check, by its name; of one that measures a share, how much of it. */
export function CheckMark({ name, mark, isNamed }: { name: string; mark: number; isNamed?: boolean }) {
  const { percent } = useFormats();
  const isPart = mark > 0 && mark < 1;
  const words = isPart ? `${name}: ${percent(mark)}` : `${name}: ${mark ? "passes" : "fails"}`;
  const Icon = mark === 1 ? Check : X;
  return (
    <span className={`check-mark row tight nowrap ${mark === 1 ? "good" : "bad"}`} title={words}>
      <Icon
        size={14}
        aria-label={isNamed ? undefined : words}
        role={isNamed ? undefined : "img"}
        aria-hidden={isNamed}
      />
      {isNamed && words}
    </span>
  );
}
