/** Usage as a chart shows it: by day, and by the models with the most of it. */
import type { UsageItem } from "../../api/types";
import { modelAt } from "../../lib/modelAt";

export type Measure = "cost" | "calls";

export type Totals = UsageItem["totals"];

/** Groups, and the sum of all. */
export interface Usage {
  items: UsageItem[];
  total: Totals;
}

export const OTHERS = "others";
const SHOWN = 5;

/** One bar: a day, and the height of each part by its model. */
export interface Bar {
  day: string;
  parts: Record<string, number>;
}

export interface Chart {
  bars: Bar[];
  /** Sorted by use, the most first; the rest, if any, is summed up at the end. */
  models: string[];
}

/** The last `count` calendar days up to today in this time zone, oldest first. */
export function lastDays(count: number, now: Date, timeZone: string | undefined): string[] {
  const parts = new Intl.DateTimeFormat("en-CA", {
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    ...(timeZone ? { timeZone } : {}),
  }).format(now);
  const today = Date.parse(`${parts}T00:00:00Z`);
  return Array.from({ length: count }, (_, index) => isoDay(today - (count - 1 - index) * 86_400_000));
}

export function dayAfter(day: string): string {
  return isoDay(Date.parse(`${day}T00:00:00Z`) + 86_400_000);
}

/** A bar for each day, also for those without a call. Only heights are floats; sums in words come from the service. */
export function chartOf(items: readonly UsageItem[], days: readonly string[], measure: Measure): Chart {
  const valueOf = ({ totals }: UsageItem) => (measure === "cost" ? Number(totals.cost) : totals.calls);
  const sums = new Map<string, number>();
  for (const item of items) sums.set(nameOf(item) ?? OTHERS, (sums.get(nameOf(item) ?? OTHERS) ?? 0) + valueOf(item));
  const ranked = [...sums]
    .filter(([, sum]) => sum > 0)
    .sort((one, other) => other[1] - one[1])
    .map(([model]) => model);
  const shown = ranked.length > SHOWN + 1 ? ranked.slice(0, SHOWN) : ranked;
  const models = shown.length < ranked.length ? [...shown, OTHERS] : shown;
  const bars = new Map<string, Bar>(
    days.map((day) => [day, { day, parts: Object.fromEntries(models.map((model) => [model, 0])) }]),
  );
  for (const item of items) {
    const bar = bars.get(item.day ?? "");
    const name = nameOf(item);
    const part = name && shown.includes(name) ? name : OTHERS;
    if (bar && models.includes(part)) bar.parts[part] = (bar.parts[part] ?? 0) + valueOf(item);
  }
  return { bars: [...bars.values()], models };
}

/** The model of a group, with its host. */
export function nameOf({ model, host }: UsageItem): string | undefined {
  return model ? modelAt({ model, host }) : undefined;
}

/** The colour of a model in a chart of these models; those that have no part of their own share one. */
export function colourOf(model: string, models: readonly string[]): string {
  const place = models.indexOf(model);
  return `var(--series-${model === OTHERS || place < 0 ? 6 : Math.min(place + 1, 6)})`;
}

function isoDay(moment: number): string {
  return new Date(moment).toISOString().slice(0, 10);
}
