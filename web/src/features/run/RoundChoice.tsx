import type { Report } from "../../api/types";
import { SelectField } from "../../components/Field";
import { Note } from "../../components/Feedback";

interface Props {
  report: Pick<Report, "round" | "rounds" | "judges">;
  /** Nothing for the present round. */
  onChoose: (round: string | undefined) => void;
}

/** Which round of a run that was judged several times is shown. */
export function RoundChoice({ report: { round, rounds, judges }, onChoose }: Props) {
  if (rounds < 2) return null;
  return (
    <div className="stack tight round-choice">
      <SelectField
        label="Round"
        value={round}
        onChange={(event) => onChoose(Number(event.target.value) === rounds ? undefined : event.target.value)}
      >
        {Array.from({ length: rounds }, (_, place) => rounds - place).map((number) => (
          <option key={number} value={number}>
            {number === rounds ? `${number}, the present one` : number}
          </option>
        ))}
      </SelectField>
      {round < rounds && (
        <Note>
          <p>
            This is how round {round} ended, judged by {judges.map(({ judge }) => judge).join(", ")}. The answers are
            the same in every round.
          </p>
        </Note>
      )}
    </div>
  );
}
