import { useQuery } from "@tanstack/react-query";
import { ChevronLeft, ChevronRight } from "lucide-react";
import { useApi, useFormats } from "../../../app/context";
import { IconButton } from "../../../components/Button";
import { SelectField, TextField } from "../../../components/Field";
import { figuresQuery } from "../queries";
import { useNames } from "../useNames";

/** So many documents before and after the shown one are proposed: a list of thousands would hold the page up. */
const NEAR = 100;

interface Props {
  runId: string;
  round: number | undefined;
  total: number;
  /** The number of the shown document. */
  number: number;
  onChoose: (number: number) => void;
}

/** Which document is shown: one near it by its name, any by its number, the next one or the one before. */
export function DocumentChoice({ runId, round, total, number, onChoose }: Props) {
  const formats = useFormats();
  const [from, to] = [Math.max(1, number - NEAR), Math.min(total, number + NEAR)];
  const { names } = useNames(runId, total, from, to);
  // In a long run, which is read by number, they are not worth being loaded.
  const flips = useQuery({ ...figuresQuery(useApi(), runId, false, round), enabled: total <= 2 * NEAR }).data?.flips;
  const near = Array.from({ length: to - from + 1 }, (_, at) => from + at);
  const turn = (by: number, label: string, icon: React.ReactNode) => (
    <IconButton
      label={label}
      icon={icon}
      variant="plain"
      isDisabled={number + by < 1 || number + by > total}
      onPress={() => onChoose(number + by)}
    />
  );
  return (
    <div className="row bottom">
      <div className="grow limited">
        <SelectField label="Document" value={number} onChange={(event) => onChoose(Number(event.target.value))}>
          {from > 1 && <option disabled>… those before, by their number</option>}
          {near.map((one) => (
            <option key={one} value={one}>
              {titleOf(one, names.get(one), flips?.[one - 1] ?? 0)}
            </option>
          ))}
          {to < total && <option disabled>… those after, by their number</option>}
        </SelectField>
      </div>
      <div className="row tight">
        {turn(-1, "The document before", <ChevronLeft size={18} aria-hidden />)}
        {turn(1, "The next document", <ChevronRight size={18} aria-hidden />)}
        {total > 2 * NEAR && <NumberField key={number} number={number} total={total} onChoose={onChoose} />}
        <span className="small dim num">
          {formats.integer(number)} of {formats.integer(total)}
        </span>
      </div>
    </div>
  );
}

/** Goes to a document once its number is entered. */
function NumberField({ number, total, onChoose }: Omit<Props, "runId" | "round">) {
  const go = (text: string) => {
    const wanted = Math.min(total, Math.max(1, Math.round(Number(text)) || number));
    if (wanted !== number) onChoose(wanted);
  };
  return (
    <TextField
      label="Number of the document"
      hideLabel
      type="number"
      min={1}
      max={total}
      defaultValue={number}
      onBlur={(event) => go(event.target.value)}
      onKeyDown={(event) => event.key === "Enter" && go(event.currentTarget.value)}
    />
  );
}

function titleOf(number: number, name: string | undefined, flips: number): string {
  const shown = name ?? `Document ${number}`;
  return flips ? `${shown} (${flips} ${flips === 1 ? "flip" : "flips"})` : shown;
}
