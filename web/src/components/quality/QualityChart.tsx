import { useState } from "react";
import { CartesianGrid, ErrorBar, ResponsiveContainer, Scatter, ScatterChart, Tooltip, XAxis, YAxis } from "recharts";
import type { Ranking, Report } from "../../api/types";
import { useFormats } from "../../app/context";
import { niceEnd } from "../../lib/axis";
import { placesFor } from "../../lib/format";
import { measureOf } from "../../lib/interval";
import { range } from "../../lib/intervals";
import { perThousand } from "../../lib/spend";
import { Note } from "../Feedback";
import { colourOf, shapeOf } from "../Mark";
import { Segments } from "../Segments";
import { type Label, placeLabels } from "./labels";

type Costed = Pick<Report["candidates"][number], "candidate" | "cost_per_answer" | "mean_words">;

interface Props {
  ranking: Ranking;
  /** In the order that their marks follow. */
  candidates: readonly Costed[];
}

interface Point {
  name: string;
  /** The number of the candidate, which its mark follows. */
  number: number;
  x: number;
  y: number;
  /** How far the interval reaches down and up. */
  reach: [number, number];
  isFront: boolean;
}

/** The properties that the chart library passes to a shape. */
interface Drawn {
  payload?: Point;
  cx?: number;
  cy?: number;
}

const HEIGHT = 360;
const MARGIN = { top: 12, right: 34, bottom: 30, left: 12 };
const AXIS = 56;
const TICKS = [0, 0.25, 0.5, 0.75, 1];
const NARROW = 480;
const MORE_ROOM = 1.06;

/** Marks the candidates that no other one beats in quality without costing more. */
export function withFront(points: readonly Omit<Point, "isFront">[]): Point[] {
  return points.map((point) => ({
    ...point,
    isFront: !points.some(
      (other) => other.y >= point.y && other.x <= point.x && (other.y > point.y || other.x < point.x),
    ),
  }));
}

export function QualityChart({ ranking, candidates }: Props) {
  const formats = useFormats();
  const costs = candidates.map((candidate) => Number(candidate.cost_per_answer ?? Number.NaN));
  const costsDiffer = new Set(costs.filter((cost) => !Number.isNaN(cost))).size > 1;
  const [axis, setAxis] = useState<"cost" | "words">(costsDiffer ? "cost" : "words");
  const [width, setWidth] = useState(0);
  const points = pointsOf({ ranking, candidates }, axis);
  const left = ranking.rows.length - points.length;
  const most = niceEnd(Math.max(...points.map(({ x }) => x), 0) * MORE_ROOM);
  const least = axis === "words" ? beginOf(Math.min(...points.map(({ x }) => x)), most) : 0;
  const isShare = ranking.basis !== "scores";
  const quality = isShare ? "Preferred" : "Score";
  const unit = axis === "cost" ? "Cost per 1,000 answers" : "Words per answer";
  const places = placesFor(points.map(({ x }) => `${x}`));
  const across = (value: number) =>
    axis === "words" ? formats.integer(value) : value === 0 ? "0" : formats.dollars(value.toFixed(6), places);
  const tick = (value: number) =>
    axis === "words" || value === 0 ? formats.integer(value) : formats.dollars(value.toFixed(6), stepPlaces(most / 4));
  const up = (value: number) => (isShare ? formats.percent(value) : formats.decimal(value));
  const labels = labelsOf(points, [least, most], width);
  const shape = ({ payload: point, cx = 0, cy = 0 }: Drawn) =>
    point ? <Mark point={point} label={labels.get(point.name)} cx={cx} cy={cy} /> : <g />;
  return (
    <div className="stack">
      <Segments
        label="Across"
        value={axis}
        onChange={setAxis}
        options={[
          ["cost", "Cost"],
          ["words", "Length"],
        ]}
      />
      {axis === "cost" && !costsDiffer && <Note>All candidates cost the same, so cost decides nothing here.</Note>}
      <figure className="chart">
        <figcaption className="visually-hidden">
          {quality} against {unit.toLowerCase()}:{" "}
          {points.map((point) => `${point.name} ${up(point.y)} at ${across(point.x)}`).join("; ")}
        </figcaption>
        <ResponsiveContainer width="100%" height={HEIGHT} onResize={setWidth}>
          <ScatterChart margin={MARGIN} accessibilityLayer={false}>
            <CartesianGrid stroke="var(--line)" />
            <XAxis
              type="number"
              dataKey="x"
              name={unit}
              domain={[least, most]}
              ticks={(width < NARROW || least ? [0, 0.5, 1] : TICKS).map((part) => least + part * (most - least))}
              tickFormatter={tick}
              {...AXIS_LOOK}
              label={{ value: `${unit} →`, position: "insideBottom", offset: -18, fill: "var(--ink-2)", fontSize: 13 }}
            />
            <YAxis
              type="number"
              dataKey="y"
              name={quality}
              domain={[0, 1]}
              ticks={TICKS}
              tickFormatter={up}
              {...AXIS_LOOK}
              width={AXIS}
              label={{
                value: `${quality} →`,
                angle: -90,
                position: "insideLeft",
                fill: "var(--ink-2)",
                fontSize: 13,
                style: { textAnchor: "middle" },
              }}
            />
            <Tooltip
              cursor={false}
              content={({ payload }) => (
                <Tip
                  point={payload[0]?.payload as Point | undefined}
                  unit={unit}
                  quality={quality}
                  across={across}
                  up={up}
                />
              )}
            />
            {/* What is drawn last lies on top. */}
            <Scatter data={points.toSorted(byFront)} isAnimationActive={false} shape={shape}>
              <ErrorBar
                dataKey="reach"
                direction="y"
                width={0}
                stroke="var(--line-2)"
                strokeWidth={1.5}
                isAnimationActive={false}
              />
            </Scatter>
          </ScatterChart>
        </ResponsiveContainer>
      </figure>
      <p className="small dim">
        Filled: nobody is better for {axis === "cost" ? "less money" : "fewer words"} · hollow: somebody is · the lines
        are the ranges of the ranking
        {left > 0 &&
          ` · ${left === 1 ? "one candidate is" : `${formats.counted(left, "candidate")} are`} left out: ${axis === "cost" ? "nobody knows the cost" : "nothing was delivered"}`}
      </p>
    </div>
  );
}

const byFront = (one: Point, other: Point) => Number(one.isFront) - Number(other.isFront);
const AXIS_LOOK = { stroke: "var(--line-2)", tick: { fill: "var(--ink-2)", fontSize: 12 } };

function pointsOf({ ranking, candidates }: Props, axis: "cost" | "words"): Point[] {
  const byLabel = new Map(candidates.map((candidate, number) => [candidate.candidate, { ...candidate, number }]));
  return withFront(
    ranking.rows.flatMap((row) => {
      const candidate = byLabel.get(row.candidate);
      const measure = measureOf(ranking, row);
      const cost = candidate?.cost_per_answer;
      const x =
        axis === "cost" ? (cost ? Number(perThousand(cost)) : Number.NaN) : (candidate?.mean_words ?? Number.NaN);
      if (!measure || Number.isNaN(x)) return [];
      const { value, low, high } = measure;
      return [
        {
          name: row.candidate,
          number: candidate?.number ?? 0,
          x,
          y: value,
          reach: [value - (low ?? value), (high ?? value) - value] as [number, number],
        },
      ];
    }),
  );
}

function onCanvas(
  { x, y }: { x: number; y: number },
  [least, most]: readonly [number, number],
  width: number,
): { cx: number; cy: number } {
  const [inner, height] = [width - MARGIN.left - MARGIN.right - AXIS, HEIGHT - MARGIN.top - MARGIN.bottom - X_AXIS];
  return { cx: MARGIN.left + AXIS + ((x - least) / (most - least)) * inner, cy: MARGIN.top + (1 - y) * height };
}

/** The height that the chart library keeps for the x axis. */
const X_AXIS = 30;

function labelsOf(points: readonly Point[], ends: readonly [number, number], width: number): Map<string, Label> {
  // Place the labels of the front first, because they matter most.
  const inOrder = points.toSorted((one, other) => Number(other.isFront) - Number(one.isFront));
  const spots = inOrder.map((point) => {
    const { cx, cy } = onCanvas(point, ends, width);
    return { name: point.name, x: cx, y: cy };
  });
  const frame = { left: MARGIN.left + AXIS + 2, right: width - 2, top: 2, bottom: HEIGHT - MARGIN.bottom - X_AXIS - 2 };
  const found = placeLabels(spots, frame);
  return new Map(inOrder.flatMap((point, index) => (found[index] ? [[point.name, found[index]] as const] : [])));
}

function Mark({ point, label, cx, cy }: { point: Point; label: Label | undefined; cx: number; cy: number }) {
  return (
    <g className={`mark ${colourOf(point.number)} ${point.isFront ? "front" : ""}`}>
      {label?.isLed && <line x1={cx} y1={cy} x2={label.x + TOWARDS[label.anchor]} y2={label.y} />}
      <path d={SHAPES[shapeOf(point.number)]} transform={`translate(${cx} ${cy})`} />
      {label && (
        <text x={label.x} y={label.y} textAnchor={label.anchor} dominantBaseline="central">
          {point.name}
        </text>
      )}
    </g>
  );
}

/** Where a line to a label ends: a little before it begins. */
const TOWARDS = { start: -3, end: 3, middle: 0 };

/** A circle, a square and a diamond around the point, as the marks beside names have them. */
const SHAPES = ["M-6 0a6 6 0 1 0 12 0a6 6 0 1 0-12 0", "M-5.500-5.500h11v11h-11z", "M0-7l7 7-7 7-7-7z"] as const;

/** The number of decimal places that a quarter of the axis needs. */
function stepPlaces(step: number): number {
  return Math.max(2, step.toFixed(6).replace(/0+$/, "").split(".")[1]?.length ?? 0);
}

/**
 * Where an axis of lengths begins: at its middle if all values are beyond it, because answers to one task have similar
 * lengths.
 */
export function beginOf(least: number, end: number): number {
  return Number.isFinite(least) && least > end / 2 ? end / 2 : 0;
}

interface TipProps {
  point: Point | undefined;
  unit: string;
  quality: string;
  across: (value: number) => string;
  up: (value: number) => string;
}

function Tip({ point, unit, quality, across, up }: TipProps) {
  if (!point) return null;
  const [down, above] = point.reach;
  return (
    <div className="popover small tip">
      <strong>{point.name}</strong>
      <div>
        {quality} {up(point.y)}
        {down + above > 0 && ` (${range(point.y - down, point.y + above, up)})`}
      </div>
      <div>
        {unit} {across(point.x)}
      </div>
    </div>
  );
}
