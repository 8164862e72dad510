import type { Ballot, PairScores } from "../../../api/types";
import { useFormats } from "../../../app/context";

type Side = "first" | "second";

const SIDES: readonly Side[] = ["first", "second"];
/** A scale of whole numbers up to so long is a choice; any other is a number to type. */
const MOST_STEPS = 11;

interface Props {
  ballot: Pick<Ballot, "criteria" | "rubric">;
  /** Between two pairs. */
  isWaiting: boolean;
  value: PairScores;
  onChange: (value: PairScores) => void;
}

/** The rubric, and beside each criterion a score for either answer. All of it may stay empty. */
export function CriteriaScores({ ballot, isWaiting, value, onChange }: Props) {
  const set = (side: Side, criterion: string, score: number | undefined) => {
    // A score that is taken back is undefined, and so left out of what is sent.
    onChange({ ...value, [side]: { ...value[side], [criterion]: score } });
  };
  return (
    <table className="table data scores small">
      <caption className="visually-hidden">Scores by criteria, if you like</caption>
      <thead>
        <tr>
          <th scope="col">What counts</th>
          <th scope="col">First</th>
          <th scope="col">Second</th>
        </tr>
      </thead>
      <tbody>
        {ballot.criteria.map((name) => (
          <tr key={name}>
            <th scope="row">
              {name}
              {ballot.rubric[name]?.description && <span className="dim block">{ballot.rubric[name].description}</span>}
            </th>
            {SIDES.map((side) => (
              <td key={side} data-label={side === "first" ? "First" : "Second"}>
                <Score
                  label={`${name} of the ${side} answer`}
                  scale={ballot.rubric[name]}
                  isWaiting={isWaiting}
                  value={value[side]?.[name]}
                  onChange={(score) => set(side, name, score)}
                />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface ScoreProps {
  label: string;
  scale: Ballot["rubric"][string] | undefined;
  isWaiting: boolean;
  value: number | undefined;
  onChange: (score: number | undefined) => void;
}

function Score({ label, scale, isWaiting, value, onChange }: ScoreProps) {
  const formats = useFormats();
  const { minimum, maximum } = scale ?? { minimum: 1, maximum: 5 };
  const read = (text: string) => onChange(text === "" ? undefined : Number(text));
  if (!Number.isInteger(minimum) || maximum - minimum >= MOST_STEPS)
    return (
      <input
        className="input"
        type="number"
        aria-label={label}
        disabled={isWaiting}
        min={minimum}
        max={maximum}
        step="any"
        value={value ?? ""}
        onChange={(event) => read(event.target.value)}
      />
    );
  const steps = Array.from({ length: Math.floor(maximum - minimum) + 1 }, (_, index) => minimum + index);
  return (
    <select
      className="input"
      aria-label={label}
      disabled={isWaiting}
      value={value ?? ""}
      onChange={(event) => read(event.target.value)}
    >
      <option value="">–</option>
      {steps.map((step) => (
        <option key={step} value={step}>
          {formats.integer(step)}
        </option>
      ))}
    </select>
  );
}
