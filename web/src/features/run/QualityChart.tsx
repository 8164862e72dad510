import { useState } from "react";
import { CartesianGrid, LabelList, ResponsiveContainer, Scatter, ScatterChart, Tooltip, XAxis, YAxis } from "recharts";
import type { Report } from "../../api/types";
import { useFormats } from "../../app/context";
import { Note } from "../../components/Feedback";
import { Segments } from "../../components/Segments";
import { measureOf } from "./interval";

interface Point {
  name: string;
  x: number;
  y: number;
  isFront: boolean;
}

/** Those that no other candidate beats in quality without costing more. */
export function withFront(points: readonly Omit<Point, "isFront">[]): Point[] {
  return points.map((point) => ({
    ...point,
    isFront: !points.some((other) => other.y >= point.y && other.x <= point.x && (other.y > point.y || other.x < point.x)),
  }));
}

export function QualityChart({ report }: { report: Report }) {
  const formats = useFormats();
  const costs = report.candidates.map((candidate) => Number(candidate.cost_per_answer ?? Number.NaN));
  const costsDiffer = new Set(costs.filter((cost) => !Number.isNaN(cost))).size > 1;
  const [axis, setAxis] = useState<"cost" | "words">(costsDiffer ? "cost" : "words");
  const byLabel = new Map(report.candidates.map((candidate) => [candidate.candidate, candidate]));
  const points = withFront(
    report.ranking.rows.flatMap((row) => {
      const candidate = byLabel.get(row.candidate);
      const y = measureOf(report.ranking, row)?.value;
      const x = axis === "cost" ? Number(candidate?.cost_per_answer ?? Number.NaN) : (candidate?.mean_words ?? Number.NaN);
      return y === undefined || Number.isNaN(x) ? [] : [{ name: row.candidate, x, y }];
    }),
  );
  const quality = report.ranking.basis === "scores" ? "Score" : "Win share";
  const unit = axis === "cost" ? "Credits an answer" : "Words an answer";
  const number = (value: number) => (axis === "cost" ? formats.money(value.toFixed(6)) : formats.integer(value));
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
          {quality} against {unit.toLowerCase()}: {points.map((point) => `${point.name} ${formats.decimal(point.y)} at ${number(point.x)}`).join("; ")}
        </figcaption>
        <ResponsiveContainer width="100%" height={320}>
          <ScatterChart margin={{ top: 20, right: 30, bottom: 26, left: 4 }}>
            <CartesianGrid stroke="var(--line)" />
            <XAxis type="number" dataKey="x" name={unit} domain={["auto", "auto"]} tickFormatter={number} stroke="var(--ink-2)" tick={{ fill: "var(--ink-2)", fontSize: 12 }} label={{ value: unit, position: "insideBottom", offset: -16, fill: "var(--ink-2)", fontSize: 13 }} />
            <YAxis type="number" dataKey="y" name={quality} domain={[0, 1]} ticks={[0, 0.25, 0.5, 0.75, 1]} tickFormatter={(value: number) => formats.decimal(value)} stroke="var(--ink-2)" tick={{ fill: "var(--ink-2)", fontSize: 12 }} width={48} />
            <Tooltip cursor={{ stroke: "var(--line-2)" }} content={({ payload }) => <Tip point={payload[0]?.payload as Point | undefined} unit={unit} quality={quality} number={number} />} />
            <Scatter data={points.filter((point) => !point.isFront)} fill="var(--line-2)" isAnimationActive={false}>
              <LabelList dataKey="name" position="top" fill="var(--ink-2)" fontSize={12} />
            </Scatter>
            <Scatter data={points.filter((point) => point.isFront)} fill="var(--accent)" shape="diamond" isAnimationActive={false}>
              <LabelList dataKey="name" position="top" fill="var(--ink)" fontSize={12} fontWeight={600} />
            </Scatter>
          </ScatterChart>
        </ResponsiveContainer>
      </figure>
      <p className="small dim">
        Green diamonds: nobody is better for {axis === "cost" ? "less money" : "fewer words"}.
      </p>
    </div>
  );
}

function Tip({ point, unit, quality, number }: { point: Point | undefined; unit: string; quality: string; number: (value: number) => string }) {
  const formats = useFormats();
  if (!point) return null;
  return (
    <div className="popover small tip">
      <strong>{point.name}</strong>
      <div>
        {quality} {formats.decimal(point.y)}
      </div>
      <div>
        {unit} {number(point.x)}
      </div>
    </div>
  );
}
