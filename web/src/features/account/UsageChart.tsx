import { Bar, BarChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from "recharts";
import { useFormats } from "../../app/context";
import { niceEnd } from "../../lib/axis";
import { type Bar as Day, type Chart, colourOf, type Measure } from "./usage";

const TICK = { fill: "var(--ink-2)", fontSize: 12 };

/** Bars by day, each of the parts that models have in it. The table below says the same in figures. */
export function UsageChart({ chart, measure }: { chart: Chart; measure: Measure }) {
  const formats = useFormats();
  const number = (value: number) => (measure === "cost" ? formats.dollars(value.toFixed(6)) : formats.integer(value));
  const end = niceEnd(Math.max(...chart.bars.map(sumOf)));
  return (
    <figure className="chart days">
      <figcaption className="visually-hidden">
        {measure === "cost" ? "Cost" : "Calls"} by day:{" "}
        {chart.bars
          .flatMap((bar) => (sumOf(bar) > 0 ? [`${formats.day(bar.day)} ${number(sumOf(bar))}`] : []))
          .join("; ")}
      </figcaption>
      <ResponsiveContainer width="100%" height={320}>
        <BarChart data={chart.bars} margin={{ top: 12, right: 12, bottom: 4, left: 4 }}>
          <CartesianGrid stroke="var(--line)" vertical={false} />
          <XAxis
            dataKey="day"
            tickFormatter={(day: string) => formats.day(day)}
            stroke="var(--ink-2)"
            tick={TICK}
            minTickGap={24}
          />
          <YAxis
            {...(measure === "cost"
              ? { domain: [0, end], ticks: [0, 0.25, 0.5, 0.75, 1].map((part) => part * end) }
              : {})}
            tickFormatter={number}
            stroke="var(--ink-2)"
            tick={TICK}
            width={72}
            allowDecimals={measure === "cost"}
          />
          <Tooltip
            cursor={{ fill: "var(--sunken)" }}
            content={({ payload }) => (
              <Tip bar={payload[0]?.payload as Day | undefined} models={chart.models} number={number} />
            )}
          />
          {chart.models.map((model) => (
            <Bar
              key={model}
              stackId="day"
              name={model}
              dataKey={(bar: Day) => bar.parts[model] ?? 0}
              fill={colourOf(model, chart.models)}
              stroke="var(--surface)"
              isAnimationActive={false}
            />
          ))}
        </BarChart>
      </ResponsiveContainer>
    </figure>
  );
}

function sumOf(bar: Day): number {
  return Object.values(bar.parts).reduce((sum, part) => sum + part, 0);
}

function Tip({
  bar,
  models,
  number,
}: {
  bar: Day | undefined;
  models: readonly string[];
  number: (value: number) => string;
}) {
  const formats = useFormats();
  if (!bar) return null;
  return (
    <div className="popover small tip">
      <strong>{formats.day(bar.day)}</strong>
      {models
        .filter((model) => (bar.parts[model] ?? 0) > 0)
        .map((model) => (
          <div key={model}>
            <i className="swatch" style={{ background: colourOf(model, models) }} />
            {model} {number(bar.parts[model] ?? 0)}
          </div>
        ))}
    </div>
  );
}
