import type { TrendPoint } from "../../../api/types";
import { type Measure, valueOf } from "./measures";

interface Props {
  /** The newest first, as the service sends them. */
  points: readonly TrendPoint[];
  measure: Measure;
  lastGood: string | null;
  write: (value: number) => string;
  words: string;
}

const HEIGHT = 260;
const [TOP, BOTTOM] = [18, 30];
/** Where the runs begin, in percent of the width; the words of the ticks are left of it, each on its line. */
const BEGIN = 12;

/** A value and its interval for each run, from the oldest to the newest; the table below says the same in figures. */
export function TrendChart({ points, measure, lastGood, write, words }: Props) {
  const { reach } = measure;
  const [least, most] = reach === undefined ? [0, 1] : [-reach, reach];
  const step = (100 - BEGIN) / Math.max(1, points.length);
  const y = (value: number) =>
    TOP + ((most - Math.min(most, Math.max(least, value))) / (most - least)) * (HEIGHT - TOP - BOTTOM);
  const drawn = points.toReversed().flatMap((point, place) => {
    const found = valueOf(point, measure);
    return found ? [{ point, ...found, x: `${BEGIN + (place + 0.5) * step}%` }] : [];
  });
  const ticks = [least, (least + most) / 2, most];
  return (
    <figure className="chart trend">
      <svg width="100%" height={HEIGHT} role="img" aria-label={words}>
        {ticks.map((tick) => (
          <g key={tick}>
            <line x1="0" x2="100%" y1={y(tick)} y2={y(tick)} className="axis" />
            <text x="0" y={y(tick) - 4}>
              {write(tick)}
            </text>
          </g>
        ))}
        {drawn.slice(1).map((to, place) => {
          const from = drawn[place] ?? to;
          return <line key={to.point.run} x1={from.x} x2={to.x} y1={y(from.value)} y2={y(to.value)} className="path" />;
        })}
        {drawn.map(({ point, value, low, high, x }) => (
          <svg key={point.run} x={x} overflow="visible">
            {low !== null && high !== null && <line y1={y(low)} y2={y(high)} className="range" />}
            {point.good === false ? (
              <path d={`M-5 ${y(value) - 5}l10 10m0 -10l-10 10`} className="cross" />
            ) : (
              <circle cy={y(value)} r={5} className="point" />
            )}
            {point.run === lastGood && (
              <text y={HEIGHT - 8} textAnchor="middle">
                last good
              </text>
            )}
          </svg>
        ))}
      </svg>
      <p className="small dim">
        From the oldest run to the newest; the lines are intervals of 95 %
        {reach === undefined ? "" : " or, against the baseline, bounds of 95 % on either side"}. A cross is a run that
        is not good.
      </p>
    </figure>
  );
}
