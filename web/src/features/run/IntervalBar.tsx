import { barOf, type Measure } from "../../lib/interval";

interface Props {
  measure: Measure;
  /** The class of its colour. */
  look: string;
  write: (value: number) => string;
}

/** A value and its interval, drawn from 0 to 1: in the colour of its candidate, or grey where it supports no conclusion. */
export function IntervalBar({ measure, look, write }: Props) {
  const bar = barOf(measure);
  return (
    <svg
      className={`interval ${look}`}
      viewBox="0 0 100 20"
      preserveAspectRatio="none"
      role="img"
      aria-label={inWords(measure, write)}
    >
      <line x1="0" x2="100" y1="10" y2="10" className="axis" vectorEffect="non-scaling-stroke" />
      <line x1="50" x2="50" y1="0" y2="20" className="middle" vectorEffect="non-scaling-stroke" />
      {bar.low !== undefined && bar.high !== undefined && (
        <line x1={bar.low} x2={bar.high} y1="10" y2="10" className="range" vectorEffect="non-scaling-stroke" />
      )}
      <line x1={bar.at} x2={bar.at} y1="3" y2="17" className="point" vectorEffect="non-scaling-stroke" />
    </svg>
  );
}

function inWords(measure: Measure, write: (value: number) => string): string {
  if (measure.low === null || measure.high === null) return write(measure.value);
  return `${write(measure.value)}, between ${write(measure.low)} and ${write(measure.high)}`;
}
