import { useLayoutEffect, useRef, useState } from "react";
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

const HEIGHT = 360;
/** Where the points are, in pixels; the axes and their names stand around it. */
const FRAME = { left: 68, right: 34, top: 12, bottom: 300 };
const TICKS = [0, 0.25, 0.5, 0.75, 1];
const NARROW = 480;
const MORE_ROOM = 1.06;
const TIP_GAP = 12;

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
  const [figure, width] = useWidth();
  const [pointed, setPointed] = useState<string>();
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
  const tip = points.find(({ name }) => name === pointed);
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
      <figure className="chart" ref={figure}>
        <figcaption className="visually-hidden">
          {quality} against {unit.toLowerCase()}:{" "}
          {points.map((point) => `${point.name} ${up(point.y)} at ${across(point.x)}`).join("; ")}
        </figcaption>
        {width > 0 && (
          <svg width={width} height={HEIGHT} aria-hidden>
            <Axes
              place={(x, y) => onCanvas({ x, y }, [least, most], width)}
              across={(width < NARROW || least ? [0, 0.5, 1] : TICKS).map((part) => least + part * (most - least))}
              ends={[least, most]}
              tick={tick}
              up={up}
              names={[unit, quality]}
            />
            {/* What is drawn last lies on top. */}
            {points.toSorted(byFront).map((point) => (
              <Mark
                key={point.name}
                point={point}
                label={labels.get(point.name)}
                place={(y) => onCanvas({ x: point.x, y }, [least, most], width)}
                onPoint={(isPointed) => setPointed(isPointed ? point.name : undefined)}
              />
            ))}
          </svg>
        )}
        {tip && (
          <Tip point={tip} at={onCanvas(tip, [least, most], width)} width={width} {...{ unit, quality, across, up }} />
        )}
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

/** The width of the element that takes the reference, once it is drawn and whenever it changes. */
function useWidth() {
  const figure = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    if (!figure.current) return;
    const watched = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    watched.observe(figure.current);
    return () => watched.disconnect();
  }, []);
  return [figure, width] as const;
}

interface AxesProps {
  place: (x: number, y: number) => { cx: number; cy: number };
  across: readonly number[];
  ends: readonly [number, number];
  tick: (value: number) => string;
  up: (value: number) => string;
  /** Of what goes across, and of what goes up. */
  names: readonly [string, string];
}

function Axes({ place, across, ends: [least, most], tick, up, names: [under, beside] }: AxesProps) {
  const middle = place((least + most) / 2, 0.5);
  return (
    <g className="axes">
      {TICKS.map((y) => {
        const [from, to] = [place(least, y), place(most, y)];
        return (
          <g key={y}>
            <line x1={from.cx} y1={from.cy} x2={to.cx} y2={to.cy} />
            <text x={from.cx - 10} y={from.cy} textAnchor="end" dominantBaseline="central">
              {up(y)}
            </text>
          </g>
        );
      })}
      {across.map((x) => {
        const [from, to] = [place(x, 0), place(x, 1)];
        return (
          <g key={x}>
            <line x1={from.cx} y1={from.cy} x2={to.cx} y2={to.cy} />
            <text x={from.cx} y={from.cy + 18} textAnchor="middle">
              {tick(x)}
            </text>
          </g>
        );
      })}
      <text x={middle.cx} y={HEIGHT - 14} textAnchor="middle">
        {under} →
      </text>
      <text transform={`translate(16 ${middle.cy}) rotate(-90)`} textAnchor="middle">
        {beside} →
      </text>
    </g>
  );
}

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
  const { left, right, top, bottom } = FRAME;
  return {
    cx: left + ((x - least) / (most - least)) * (width - left - right),
    cy: top + (1 - y) * (bottom - top),
  };
}

function labelsOf(points: readonly Point[], ends: readonly [number, number], width: number): Map<string, Label> {
  // Place the labels of the front first, because they matter most.
  const inOrder = points.toSorted((one, other) => Number(other.isFront) - Number(one.isFront));
  const spots = inOrder.map((point) => {
    const { cx, cy } = onCanvas(point, ends, width);
    return { name: point.name, x: cx, y: cy };
  });
  const frame = { left: FRAME.left + 2, right: width - 2, top: 2, bottom: FRAME.bottom - 2 };
  const found = placeLabels(spots, frame);
  return new Map(inOrder.flatMap((point, index) => (found[index] ? [[point.name, found[index]] as const] : [])));
}

interface MarkProps {
  point: Point;
  label: Label | undefined;
  /** Where this quality is, above or below the point. */
  place: (y: number) => { cx: number; cy: number };
  onPoint: (isPointed: boolean) => void;
}

function Mark({ point, label, place, onPoint }: MarkProps) {
  const { cx, cy } = place(point.y);
  const [down, above] = point.reach;
  return (
    <g
      className={`mark ${colourOf(point.number)} ${point.isFront ? "front" : ""}`}
      onPointerEnter={() => onPoint(true)}
      onPointerLeave={() => onPoint(false)}
    >
      <line className="range" x1={cx} y1={place(point.y - down).cy} x2={cx} y2={place(point.y + above).cy} />
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
  point: Point;
  at: { cx: number; cy: number };
  width: number;
  unit: string;
  quality: string;
  across: (value: number) => string;
  up: (value: number) => string;
}

/** At the side of the point where there is more room. */
function Tip({ point, at: { cx, cy }, width, unit, quality, across, up }: TipProps) {
  const [down, above] = point.reach;
  const side = cx < width / 2 ? { left: cx + TIP_GAP } : { right: width - cx + TIP_GAP };
  return (
    <div className="popover small tip" style={{ position: "absolute", ...side, top: cy + TIP_GAP }}>
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
