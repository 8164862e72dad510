import { around, upwards } from "./heat";

const STEPS = [0, 0.25, 0.5, 0.75, 1];

interface Props {
  kind: "around" | "upwards";
  low: string;
  /** The value without a colour. */
  middle?: string;
  high: string;
}

/** What the colours of a heat map say; the numbers are in the cells. */
export function HeatLegend({ kind, low, middle, high }: Props) {
  return (
    <p className="small dim row tight legend">
      <span>{low}</span>
      {STEPS.map((step) => (
        <i key={step} aria-hidden style={kind === "around" ? around(step) : upwards(step)} />
      ))}
      <span>{high}</span>
      {middle && <span>· {middle}</span>}
    </p>
  );
}
